import type { Hl7v2Event } from './event.ts';
import { patientAndVisit } from './visit.ts';

/** Transfer (v2.5.1 §3.3.2): PV1-3 is where the patient is, PV1-6 where the patient was. */
export const adtA02: Hl7v2Event = {
	messageType: 'ADT^A02',
	always: false,
	effect: 'Encounter `in-progress`, location from PV1-3 and PV1-6; without PV1-6 the known location is completed',
	changes: (message, context) => patientAndVisit(message, 'keep', { act: 'transfer', status: 'in-progress', unknown: 'create' }, context),
};
