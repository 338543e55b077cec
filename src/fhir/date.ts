import { dateRange, dayMs, utc } from '#core/date-range.ts';

const firstMs = utc(1, 1, 1);
const afterLastMs = utc(10_000, 1, 1);

/** Formats a moment for PostgreSQL. A time zone or an excluded end may lead outside the years 1 to 9999; that is written as infinity. */
export function isoInstant(ms: number): string {
	if (ms < firstMs) return '-infinity';
	return ms < afterLastMs ? new Date(ms).toISOString() : 'infinity';
}

/** Reads what `isoInstant` and `isoDay` write. */
export function instantMs(text: string): number {
	if (text === '-infinity') return Number.NEGATIVE_INFINITY;
	return text === 'infinity' ? Number.POSITIVE_INFINITY : Date.parse(text);
}

export function isoDay(ms: number): string {
	return isoInstant(ms).split('T')[0] ?? '';
}

/** The first moment of a range and the first after it, as two columns keep it; nulls when there is no date. */
export type Bounds = readonly [start: string | null, end: string | null];

export function instantBounds(text: string | undefined): Bounds {
	const range = text === undefined ? undefined : dateRange(text);
	return range ? [isoInstant(range.startMs), isoInstant(range.endMs)] : [null, null];
}

/** Returns the bounds in whole days. */
export function dayBounds(text: string | undefined): Bounds {
	const range = text === undefined ? undefined : dateRange(text);
	if (range === undefined) return [null, null];
	return [isoDay(range.startMs), isoDay(Math.ceil(range.endMs / dayMs) * dayMs)];
}

/** Returns the bounds of a period. An absent bound is open (FHIR R4 §2.24.0.13). */
export function periodBounds(start: string | undefined, end: string | undefined): Bounds {
	const [from] = instantBounds(start);
	const [, to] = instantBounds(end);
	return from === null && to === null ? [null, null] : [from ?? '-infinity', to ?? 'infinity'];
}
