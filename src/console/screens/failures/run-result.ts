import type { Tone } from '../../components/badge.tsx';
import type { ReplayRun } from './calls.ts';

/** Sums a run up in a word. A run that is done need not have succeeded. */
export function resultOf({ state, times, accepted, refused, other, done, skipped }: ReplayRun): { tone: Tone; word: string } {
	if (state === 'running') return { tone: 'info', word: 'running' };
	if (state === 'failed') return { tone: 'danger', word: 'failed' };
	if (state === 'interrupted') return { tone: 'warning', word: 'interrupted' };
	if (state === 'cancelled') return { tone: 'neutral', word: 'cancelled' };
	if (times !== null) return { tone: 'good', word: 'done' };
	if (refused > 0)
		return refused + skipped === done ? { tone: 'danger', word: 'refused again' } : { tone: 'warning', word: 'partly refused' };
	if (accepted > 0) return { tone: 'good', word: 'accepted' };
	if (other > 0) return { tone: 'neutral', word: 'changed nothing' };
	return { tone: 'neutral', word: 'nothing to do' };
}
