import { type DateRange, dateRange, dayMs } from '#core/date-range.ts';

/** The times by which two statements about one result are compared, as FHIR dateTimes. */
export interface StatedTimes {
	/** OBX-14, else what OBR says of the observation. A report has none. */
	observed?: string | undefined;
	/** OBR-22, when the result or its status changed. */
	reported?: string | undefined;
	/** MSH-7, when the message was made. */
	sent?: string | undefined;
}

export type Age = 'older' | 'equal' | 'newer';

/** Tells how `next` lies to `held`: the first of the three times that both have, and that differs, decides. */
export function ageOf(held: StatedTimes, next: StatedTimes): Age {
	for (const name of ['observed', 'reported', 'sent'] as const) {
		const [before, after] = [rangeOf(name, held[name]), rangeOf(name, next[name])];
		if (before === undefined || after === undefined) continue;
		if (after.endMs <= before.startMs) return 'older';
		if (before.endMs <= after.startMs) return 'newer';
	}
	return 'equal';
}

/** A time of day that systems also write where they know the day alone. */
const midnight = /T00:00:00(?:\.0+)?(?:Z|[+-]\d\d:\d\d)$/;

/** A result that was reported at midnight may have been reported at any time of that day. */
function rangeOf(name: keyof StatedTimes, time: string | undefined): DateRange | undefined {
	const range = time === undefined ? undefined : dateRange(time);
	if (range === undefined || name !== 'reported' || !midnight.test(time ?? '')) return range;
	return { startMs: range.startMs, endMs: range.startMs + dayMs };
}

/** The stages of a result. Within `draft` the newer statement counts; from a stage of completion there is no way back. */
type Stage = 'draft' | 'completed' | 'corrected' | 'withdrawn';

interface Rank {
	stage: Stage;
	/** Which of two statements of equal age counts, where the stages alone do not decide. */
	tie: number;
}

/** Statuses of Observation and DiagnosticReport, to which tables 0085 and 0123 are mapped before. */
const ranks: Readonly<Record<string, Rank>> = {
	registered: { stage: 'draft', tie: 0 },
	partial: { stage: 'draft', tie: 1 },
	unknown: { stage: 'draft', tie: 1 },
	preliminary: { stage: 'draft', tie: 1 },
	cancelled: { stage: 'withdrawn', tie: 2 },
	final: { stage: 'completed', tie: 3 },
	amended: { stage: 'corrected', tie: 4 },
	corrected: { stage: 'corrected', tie: 4 },
	'entered-in-error': { stage: 'withdrawn', tie: 5 },
};
const unranked: Rank = { stage: 'draft', tie: 1 };
const order: Readonly<Record<Exclude<Stage, 'withdrawn'>, number>> = { draft: 0, completed: 1, corrected: 2 };

function rankOf(status: unknown): Rank {
	return (typeof status === 'string' && Object.hasOwn(ranks, status) ? ranks[status] : undefined) ?? unranked;
}

/**
 * Tells whether a statement of status `next` and this age takes the place of one of status `held` (HL7 table 0085: a final result can only
 * be changed with a corrected result). The order in which they came counts only if they are of equal age.
 */
export function takesPlace(held: unknown, next: unknown, age: Age): boolean {
	const [before, after] = [rankOf(held), rankOf(next)];
	if (before.stage === 'withdrawn' || after.stage === 'withdrawn') {
		if (age !== 'equal') return age === 'newer';
		return after.stage === 'withdrawn' || after.tie >= before.tie;
	}
	const step = order[after.stage] - order[before.stage];
	if (step !== 0) return step > 0;
	return age === 'equal' ? after.tie >= before.tie : age === 'newer';
}

/** Tells whether a result counts as reported, so that to cancel it is to withdraw it. */
export function isReported(status: unknown): boolean {
	const { stage } = rankOf(status);
	return stage === 'completed' || stage === 'corrected';
}
