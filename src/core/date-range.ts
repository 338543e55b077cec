/** The moments that a FHIR date, dateTime or instant spans: `end` is excluded. Milliseconds since the epoch. */
export interface DateRange {
	startMs: number;
	endMs: number;
}

const pattern = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;

const minuteMs = 60_000;
export const dayMs = 86_400_000;

/**
 * Reads a date of any precision (FHIR R4 §2.24.0.1). A time without a time zone is taken as UTC.
 * Undefined when the text is no date, or a day that does not exist.
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

/** Returns the first moment of a day, in milliseconds since the epoch; months and days count from one. */
export function utc(year: number, month: number, day: number): number {
	const date = new Date(0);
	date.setUTCFullYear(year, month - 1, day);
	return date.getTime();
}

/** A date without a time zone is a day somewhere on earth, so it may differ from UTC by this much. */
const anywhereMs = 14 * 3_600_000;

/** Tells whether the whole end lies before the start, if the two can be compared (FHIR R4 per-1). */
export function endsBeforeStart(start: string, end: string): boolean {
	const [from, to] = [dateRange(start), dateRange(end)];
	if (from === undefined || to === undefined) return false;
	const slackMs = start.includes('T') === end.includes('T') ? 0 : anywhereMs;
	return to.endMs + slackMs <= from.startMs;
}
