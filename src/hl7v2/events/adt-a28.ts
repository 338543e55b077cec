import type { Hl7v2Event } from './event.ts';
import { patientOnly } from './visit.ts';

/** Add person (v2.5.1 §3.3.28). */
export const adtA28: Hl7v2Event = {
	messageType: 'ADT^A28',
	always: false,
	effect: 'Patient from PID; PV1 is not read',
	changes: patientOnly,
};
