import { survivorBeside } from '#record/identity/survivor.ts';
import type { Change } from '#record/kinds/index.ts';
import type { Message } from '../message.ts';
import type { Context } from '../segments/context.ts';
import { mergeChange, mergePairs } from '../segments/mrg.ts';
import { patientChange, requirePid } from '../segments/pid.ts';
import type { Hl7v2Event } from './event.ts';

/** Merge patient, patient identifier list (v2.5.1 §3.3.40): every PID/MRG pair, in order, all or none. */
export const adtA40: Hl7v2Event = { messageType: 'ADT^A40', always: true, effect: 'See "Merge"', changes: merge };

function merge(message: Message, context: Context): Change[] {
	requirePid(message);
	const changes: Change[] = [];
	for (const pair of mergePairs(message)) {
		const ref = changes.length;
		const merge = mergeChange(pair, ref, context);
		changes.push(survivorBeside(patientChange(pair.pid, ref, { known: 'keep' }, context), merge.prior), merge);
	}
	return changes;
}
