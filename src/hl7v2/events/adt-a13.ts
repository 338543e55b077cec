import type { Hl7v2Event } from './event.ts';
import { patientAndVisit } from './visit.ts';

/** Cancel discharge (v2.5.1 §3.3.13): the visit goes on. */
export const adtA13: Hl7v2Event = {
	messageType: 'ADT^A13',
	always: false,
	effect: 'Encounter `in-progress`, `period.end` and discharge disposition removed; unknown visit as for A11',
	changes: (message, context) =>
		patientAndVisit(message, 'keep', { act: 'reopen', status: 'in-progress', reopens: true, unknown: 'flag' }, context),
};
