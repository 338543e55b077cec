import type { Hl7v2Event } from './event.ts';
import { patientAndVisit } from './visit.ts';

/** Admit (v2.5.1 §3.3.1). */
export const adtA01: Hl7v2Event = {
	messageType: 'ADT^A01',
	always: true,
	effect:
		'Patient from PID, created or updated; with PV1, Encounter `in-progress` (`planned` when PV1-2 is P, `finished` when PV1-45 is valued)',
	changes: (message, context) => patientAndVisit(message, 'update', { act: 'admit', status: 'in-progress', unknown: 'create' }, context),
};
