import type { Hl7v2Event } from './event.ts';
import { patientOnly } from './visit.ts';

/** Update person (v2.5.1 §3.3.31). */
export const adtA31: Hl7v2Event = { messageType: 'ADT^A31', always: false, effect: 'As ADT^A28', changes: patientOnly };
