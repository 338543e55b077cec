import { eventTime } from '../segments/evn.ts';
import type { Hl7v2Event } from './event.ts';
import { patientAndVisit } from './visit.ts';

/** Discharge (v2.5.1 §3.3.3): without PV1-45 the visit ended when the event took place. */
export const adtA03: Hl7v2Event = {
	messageType: 'ADT^A03',
	always: false,
	effect: 'Encounter `finished`; `period.end` from PV1-45, else EVN-6, else EVN-2',
	changes: (message, context) => {
		const ended = () => eventTime(message, context);
		return patientAndVisit(message, 'keep', { act: 'discharge', status: 'finished', ended, unknown: 'create' }, context);
	},
};
