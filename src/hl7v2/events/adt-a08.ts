import type { Hl7v2Event } from './event.ts';
import { patientAndVisit } from './visit.ts';

/** Update patient information (v2.5.1 §3.3.8). It does not state the status of the visit, so the status stays. */
export const adtA08: Hl7v2Event = {
	messageType: 'ADT^A08',
	always: true,
	effect:
		'As ADT^A01, but it does not say how the visit stands: the status stays (`finished` when PV1-45 is valued); a visit that it creates is `in-progress`, `planned` when PV1-2 is P',
	changes: (message, context) => patientAndVisit(message, 'update', { unknown: 'create' }, context),
};
