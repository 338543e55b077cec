import type { Hl7v2Event } from './event.ts';
import { patientAndVisit } from './visit.ts';

/** Register (v2.5.1 §3.3.4): the patient has arrived, so the visit is in progress. */
export const adtA04: Hl7v2Event = {
	messageType: 'ADT^A04',
	always: true,
	effect: 'As ADT^A01',
	changes: (message, context) => patientAndVisit(message, 'update', { act: 'admit', status: 'in-progress', unknown: 'create' }, context),
};
