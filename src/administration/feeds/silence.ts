/** An hour of a feed, with what was received in each of its minutes. */
export interface HourOfMinutes {
	hourMs: number;
	minutes: readonly number[];
}

/** The hour of the week in one of the last four weeks, and the hours with traffic before and after it. */
export interface WeekOfFeed {
	hourMs: number;
	/** Undefined where nothing came in that hour. */
	minutes: readonly number[] | undefined;
	before: HourOfMinutes | undefined;
	after: HourOfMinutes | undefined;
}

/** Weeks in which the hour has to be known. With fewer, chance decides. */
const weeksMin = 2;
/** A pause is known to the minute, so a shorter one means nothing. */
export const silentMinutesMin = 5;
const minuteMs = 60_000;

function active({ hourMs, minutes }: HourOfMinutes): number[] {
	return minutes.flatMap((received, minute) => (received > 0 ? [hourMs + minute * minuteMs] : []));
}

/**
 * Returns the pauses that touch the hour, in minutes: those within it, the one in which it begins and the one in which it ends. Undefined if the
 * record does not reach from before the hour to behind it.
 */
function pausesOf({ hourMs, minutes, before, after }: WeekOfFeed): number[] | undefined {
	const first = before && active(before).at(-1);
	const last = after && active(after)[0];
	if (first === undefined || last === undefined) return undefined;
	const instants = [first, ...(minutes === undefined ? [] : active({ hourMs, minutes })), last];
	return instants.slice(1).map((instant, index) => (instant - (instants[index] ?? instant)) / minuteMs);
}

/**
 * Returns after how many minutes without a message a feed counts as silent in this hour of the week: three times the 99th percentile of its
 * pauses. Undefined while the record knows the hour from fewer than two of the four weeks.
 */
export function silentAfterMinutes(weeks: readonly WeekOfFeed[]): number | undefined {
	const known = weeks.map(pausesOf).filter((pauses) => pauses !== undefined);
	if (known.length < weeksMin) return undefined;
	const pauses = known.flat().sort((left, right) => left - right);
	const percentile = pauses[Math.ceil(pauses.length * 0.99) - 1] ?? 0;
	return Math.max(silentMinutesMin, 3 * percentile);
}

const unitMinutes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 };

/** Reads the setting `silent_after`: `90m`, `12h`, `3d`. */
export function minutesOf(text: string): number | undefined {
	const [, number, unit = ''] = /^(\d+)([mhd])$/.exec(text) ?? [];
	return number === undefined ? undefined : Number(number) * (unitMinutes[unit] ?? 1);
}

/** Returns the bound below which 99 of 100 acknowledgements stayed; `Infinity` if it lies above the last one. Undefined without any. */
export function p99Of(acknowledged: readonly number[], bounds: readonly number[]): number | undefined {
	const all = acknowledged.reduce((sum, count) => sum + count, 0);
	if (all === 0) return undefined;
	let counted = 0;
	for (const [bucket, count] of acknowledged.entries()) {
		counted += count;
		if (counted >= all * 0.99) return bounds[bucket] ?? Number.POSITIVE_INFINITY;
	}
	return Number.POSITIVE_INFINITY;
}
