import { isOpenMessage } from '#storage/statements/administrative/failures.ts';
import { advanceRun } from '#storage/statements/administrative/replay-runs.ts';
import type { RunControl, RunEnd, RunWork } from './context.ts';
import { replayMessage } from './messages.ts';

/** The progress of a replay is recorded this often. A cancelled one stops within the same time. */
const noteMs = 500;

/** The messages whose turn has come, in all and by what became of them. */
export interface ReplayCounts {
	done: number;
	accepted: number;
	refused: number;
	ignored: number;
	known: number;
	skipped: number;
}

export const noneReplayed: ReplayCounts = { done: 0, accepted: 0, refused: 0, ignored: 0, known: 0, skipped: 0 };

/**
 * Replays messages one at a time, in this order, behind those whose turn has come. What the node before replayed and did not count any more is
 * counted as skipped, because it is no longer open.
 */
export function replayWork(messageIds: readonly string[], before: ReplayCounts): RunWork {
	return async (control) => {
		const counts = { ...before };
		const note = async () => {
			const { context, siteId, id, attempt } = control;
			const { done, accepted, refused, ignored, known, skipped } = counts;
			const values = [siteId, id, done, accepted, refused, ignored + known, skipped, ignored, known, attempt];
			return (await context.database.rows(advanceRun, values)).length > 0;
		};
		const deliver = async (): Promise<RunEnd> => {
			let notedMs = performance.now();
			for (const messageId of messageIds.slice(before.done)) {
				if (control.isEnding()) return 'interrupted';
				const outcome = await replay(control, messageId);
				if (outcome === undefined) return 'interrupted';
				counts.done++;
				counts[outcome]++;
				if (performance.now() - notedMs < noteMs) continue;
				if (!(await note())) return 'cancelled';
				notedMs = performance.now();
			}
			return 'done';
		};
		try {
			return await deliver();
		} finally {
			await note();
		}
	};
}

/** Returns undefined if the node ends first. */
async function replay({ context, siteId, persist }: RunControl, messageId: string) {
	return persist(async () => {
		// This is checked before every attempt: an earlier one may have succeeded although its answer was lost.
		if ((await context.database.rows(isOpenMessage, [siteId, messageId])).length === 0) return 'skipped';
		const { outcome } = await replayMessage(context, messageId);
		return outcome === 'accepted' || outcome === 'refused' || outcome === 'ignored' ? outcome : 'known';
	});
}
