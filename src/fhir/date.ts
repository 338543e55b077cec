/** The moments that a FHIR date, dateTime or instant spans: `end` is excluded. Milliseconds since the epoch. */
export interface DateRange {
	startMs: number;
	endMs: number;
}

const pattern = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;

/** PostgreSQL holds far more, but FHIR's years have four digits. */
const minuteMs = 60_000;

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
	if (timeMs === undefined) return undefined;
	const startMs = midnight + timeMs - zoneMs(zone);
	const precisionMs = second === undefined ? minuteMs : fraction === undefined ? 1000 : 1;
	return { startMs, endMs: startMs + precisionMs };
}

function timeOfDay(hour: number, minute: number, second: string | undefined, fraction: string | undefined): number | undefined {
	const seconds = Number(second ?? 0);
	if (hour > 23 || minute > 59 || seconds > 60) return undefined;
	return (hour * 60 + minute) * minuteMs + seconds * 1000 + Math.floor(Number(`0${fraction ?? ''}`) * 1000);
}

function zoneMs(zone: string | undefined): number {
	if (zone === undefined || zone === 'Z') return 0;
	const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
	return (zone.startsWith('-') ? -minutes : minutes) * minuteMs;
}

function utc(year: number, month: number, day: number): number {
	const date = new Date(0);
	date.setUTCFullYear(year, month - 1, day);
	return date.getTime();
}

export function isoInstant(ms: number): string {
	return new Date(ms).toISOString();
}

export function isoDay(ms: number): string {
	return new Date(ms).toISOString().slice(0, 10);
}

/** `Period.start` or a moment, as an instant; undefined when it is absent or no date. */
export function startInstant(text: string | undefined): string | null {
	const range = text === undefined ? undefined : dateRange(text);
	return range ? isoInstant(range.startMs) : null;
}

export function endInstant(text: string | undefined): string | null {
	const range = text === undefined ? undefined : dateRange(text);
	return range ? isoInstant(range.endMs) : null;
}
