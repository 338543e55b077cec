import type { FeedRecord, FeedState } from './records.ts';
import { minutesOf } from './silence.ts';

/** The state of a feed follows from these. */
export interface FeedSigns {
	kind: FeedRecord['kind'];
	isPaused: boolean;
	isActive: boolean;
	lastMs: number | undefined;
	/** Messages of the last quarter of an hour. */
	recent: { received: number; refused: number };
	silentAfterMinutes: number | undefined;
	nowMs: number;
}

/** A feed counts as failing when more than this share of its recent messages was refused. The alert about the refusals of a site has the same. */
const failingShare = 0.2;
/** While nothing is known of its pauses, a feed that was heard within this time counts as connected. */
const freshMs = 3_600_000;

export function stateOf({ kind, isPaused, isActive, lastMs, recent, silentAfterMinutes, nowMs }: FeedSigns): FeedState {
	if (!isActive) return 'disabled';
	if (isPaused) return 'paused';
	if (lastMs === undefined) return 'unheard';
	// Nobody takes it, whenever it came.
	if (kind === 'unmatched') return 'failing';
	if (recent.refused > recent.received * failingShare) return 'failing';
	if (silentAfterMinutes !== undefined && nowMs - lastMs > silentAfterMinutes * 60_000) return 'silent';
	return silentAfterMinutes !== undefined || nowMs - lastMs <= freshMs ? 'connected' : 'not-known';
}

/** A time that somebody has set goes before what the history shows. */
export function silenceOf(
	setting: string | undefined,
	fromHistory: number | undefined,
): Pick<FeedRecord, 'silent_after_minutes' | 'silent_by'> {
	const set = setting === undefined ? undefined : minutesOf(setting);
	if (set !== undefined) return { silent_after_minutes: set, silent_by: 'setting' };
	return { silent_after_minutes: fromHistory ?? null, silent_by: fromHistory === undefined ? null : 'history' };
}

export const silentAlert = 'TributaryFeedSilent';
