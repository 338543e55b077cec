import type { Hl7v2Event } from './event.ts';
import { patientAndVisit } from './visit.ts';

/** Discharge (v2.5.1 §3.3.3). */
export const adtA03: Hl7v2Event = {
	messageType: 'ADT^A03',
	always: false,
	changes: (message, context) => patientAndVisit(message, 'keep', { status: 'finished', unknown: 'create' }, context),
};
