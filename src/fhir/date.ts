/** The moments that a FHIR date, dateTime or instant spans: `end` is excluded. Milliseconds since the epoch. */
export interface DateRange {
	startMs: number;
	endMs: number;
}

const pattern = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;

const minuteMs = 60_000;
export const dayMs = 86_400_000;

/**
 * Reads a date of any precision (FHIR R4 §2.24.0.1). Without a time zone a time is taken as UTC.
 * Undefined when it is none, or a day that the calendar does not have.
 */
export function dateRange(text: string): DateRange | undefined {
	const match = pattern.exec(text);
	if (!match) return undefined;
	const [, year, month, day, hour, minute, second, fraction, zone] = match;
	const y = Number(year);
	if (y === 0) return undefined;
	if (month === undefined) return { startMs: utc(y, 1, 1), endMs: utc(y + 1, 1, 1) };
	const m = Number(month);
	if (m < 1 || m > 12) return undefined;
	if (day === undefined) return { startMs: utc(y, m, 1), endMs: utc(y, m + 1, 1) };
	const d = Number(day);
	const midnight = utc(y, m, d);
	if (d < 1 || new Date(midnight).getUTCDate() !== d) return undefined;
	if (hour === undefined) return { startMs: midnight, endMs: utc(y, m, d + 1) };
	const timeMs = timeOfDay(Number(hour), Number(minute), second, fraction);
	const offsetMs = zoneMs(zone);
	if (timeMs === undefined || offsetMs === undefined) return undefined;
	const startMs = midnight + timeMs - offsetMs;
	const precisionMs = second === undefined ? minuteMs : fraction === undefined ? 1000 : 1;
	return { startMs, endMs: startMs + precisionMs };
}

/** A leap second counts as the last one of its minute. */
function timeOfDay(hour: number, minute: number, second: string | undefined, fraction: string | undefined): number | undefined {
	const seconds = Number(second ?? 0);
	if (hour > 23 || minute > 59 || seconds > 60) return undefined;
	return (hour * 60 + minute) * minuteMs + Math.min(seconds, 59) * 1000 + Number((fraction ?? '.').slice(1, 4).padEnd(3, '0'));
}

function zoneMs(zone: string | undefined): number | undefined {
	if (zone === undefined || zone === 'Z') return 0;
	const hours = Number(zone.slice(1, 3));
	const minutes = Number(zone.slice(4, 6));
	if (hours > 14 || minutes > 59) return undefined;
	return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * minuteMs;
}

function utc(year: number, month: number, day: number): number {
	const date = new Date(0);
	date.setUTCFullYear(year, month - 1, day);
	return date.getTime();
}

const firstMs = utc(1, 1, 1);
const afterLastMs = utc(10_000, 1, 1);

/** As PostgreSQL reads it. A time zone or an excluded end may lead out of the years 1 to 9999: that is infinity. */
export function isoInstant(ms: number): string {
	if (ms < firstMs) return '-infinity';
	return ms < afterLastMs ? new Date(ms).toISOString() : 'infinity';
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

/** The same in whole days. */
export function dayBounds(text: string | undefined): Bounds {
	const range = text === undefined ? undefined : dateRange(text);
	if (range === undefined) return [null, null];
	return [isoDay(range.startMs), isoDay(Math.ceil(range.endMs / dayMs) * dayMs)];
}

/** FHIR R4 §2.24.0.13: a bound that is absent is open. */
export function periodBounds(start: string | undefined, end: string | undefined): Bounds {
	const [from] = instantBounds(start);
	const [, to] = instantBounds(end);
	return from === null && to === null ? [null, null] : [from ?? '-infinity', to ?? 'infinity'];
}
