import { Failure } from '#core/failure.ts';
import type { MergeChange } from '#record/kinds/merge.ts';
import type { Message, Segment } from '../message.ts';
import type { Context } from './context.ts';
import { statedAuthorities } from './datatypes/cx.ts';
import { requiredIdentifiers } from './pid.ts';

/** A surviving patient and the segment that names the one it replaces. */
export interface MergePair {
	pid: Segment;
	mrg: Segment;
}

/**
 * The PID/MRG pairs of ADT_A39 (v2.5.1 §3.3.40), in order. Several MRG behind one PID merge into the same survivor.
 * @throws Failure when a PID has no MRG, or an MRG no PID before it
 */
export function mergePairs(message: Message): MergePair[] {
	const pairs: MergePair[] = [];
	let pid: Segment | undefined;
	let merged = true;
	for (const segment of message.segments) {
		if (segment.id === 'PID') {
			if (!merged) throw missing(pid);
			pid = segment;
			merged = false;
		} else if (segment.id === 'MRG') {
			if (pid === undefined)
				throw new Failure('segment-sequence', 'MRG stands before any PID', { location: { segment: 'MRG', sequence: 1 } });
			pairs.push({ pid, mrg: segment });
			merged = true;
		}
	}
	if (!merged) throw missing(pid);
	return pairs;
}

function missing(pid: Segment | undefined): Failure {
	const which = pid === undefined || pid.sequence === 1 ? 'PID' : `PID[${pid.sequence}]`;
	return new Failure('required-field-missing', `MRG-1 is missing: no MRG follows ${which}`, {
		location: { segment: 'MRG', sequence: pid?.sequence ?? 1, field: 1 },
	});
}

/** @throws Failure `required-field-missing` when MRG-1 has no identifier */
export function mergeChange({ mrg }: MergePair, survivor: number, context: Context): MergeChange {
	const change: MergeChange = { kind: 'merge', survivor, prior: requiredIdentifiers(mrg, 1, context), sequence: mrg.sequence };
	const authorities = statedAuthorities(mrg, 1);
	if (authorities !== undefined) change.authorities = authorities;
	return change;
}
