import type { Hl7v2Event } from './event.ts';
import { patientAndVisit } from './visit.ts';

/** Cancel admit (v2.5.1 §3.3.11). */
export const adtA11: Hl7v2Event = {
	messageType: 'ADT^A11',
	always: false,
	effect: 'Encounter `cancelled`; an unknown visit is flagged `unknown-visit`, nothing is created',
	changes: (message, context) => patientAndVisit(message, 'keep', { act: 'cancel', status: 'cancelled', unknown: 'flag' }, context),
};
