/** Formats figures and times. Times are in the browser's time zone; UTC is in the title. */

const two = (value: number) => String(value).padStart(2, '0');

/** `2026-11-21 15:31:07` */
export function localTime(at: Date): string {
	return `${localDate(at)} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** `2026-11-21` */
export function localDate(at: Date): string {
	return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** `2026-11-21 15:31`, with seconds where they are not 0 */
export function localMinute(at: Date): string {
	const text = localTime(at);
	return text.endsWith(':00') ? text.slice(0, -3) : text;
}

const dateAlone = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?$/;
const offset = /T.*(?:Z|[+-]\d\d:\d\d)$/;

/**
 * The place of a stated time on an axis: a date, month or year begins in the zone of the page, where a time without an offset stands as well.
 * @param stated a FHIR date or dateTime
 * @returns milliseconds since 1970, or NaN for what is no time
 */
export function statedAt(stated: string): number {
	const [, year, month = '01', day = '01'] = dateAlone.exec(stated) ?? [];
	return Date.parse(year === undefined ? stated : `${year}-${month}-${day}T00:00`);
}

/** The point in time that was stated, or undefined for a date without a time and a time without an offset. */
export function statedInstant(stated: string): Date | undefined {
	const at = new Date(offset.test(stated) ? stated : Number.NaN);
	return Number.isNaN(at.getTime()) ? undefined : at;
}

/** `2026-11-21 15:31` in the zone of the page; `2026-11-21` of a date; `2026-11-21 15:31:07 (as stated)` of a time without an offset */
export function statedTime(stated: string | null): string {
	if (stated === null) return '–';
	const at = statedInstant(stated);
	if (at !== undefined) return localTime(at).slice(0, 16);
	return stated.includes('T') ? `${stated.replace('T', ' ')} (as stated)` : stated;
}

/** `Europe/Berlin`: the zone in which the page shows times. */
export function zoneName(): string {
	return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `UTC+01:00` */
export function zoneOffset(at: Date): string {
	const minutes = -at.getTimezoneOffset();
	const size = Math.abs(minutes);
	return `UTC${minutes < 0 ? '−' : '+'}${two(Math.trunc(size / 60))}:${two(size % 60)}`;
}

/** `15:31` */
export function clockTime(at: Date): string {
	return `${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function utcTime(at: Date): string {
	return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
	['day', 86_400],
	['hour', 3600],
	['minute', 60],
];

/** `3 min. ago` */
export function ago(at: Date, now: Date): string {
	const seconds = (at.getTime() - now.getTime()) / 1000;
	for (const [unit, length] of steps) if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
	return Math.abs(seconds) < 5 ? 'just now' : relative.format(Math.trunc(seconds), 'second');
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const hundredths = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const significant = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** Formats a number with at most three significant figures. */
export function figure(value: number): string {
	const size = Math.abs(value);
	return (size >= 100 || Number.isInteger(value) ? whole : size >= 10 ? tenths : hundredths).format(value);
}

/** Formats what happens in a second: one thing a minute is `0.0167`, and not nothing. */
export function rate(value: number): string {
	return Math.abs(value) < 1 ? significant.format(value) : figure(value);
}

const binary = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(value: number): string {
	const step = value < 1 ? 0 : Math.min(binary.length - 1, Math.floor(Math.log2(value) / 10));
	return `${figure(value / 1024 ** step)} ${binary[step]}`;
}

/** `840 ms`, `1.25 s` */
export function milliseconds(value: number): string {
	return value < 1000 ? `${figure(value)} ms` : `${figure(value / 1000)} s`;
}

/** `1 key`, `2 keys` */
export function count(value: number, one: string, many = `${one}s`): string {
	return `${whole.format(value)} ${value === 1 ? one : many}`;
}

/** Begins a sentence that stands by itself. */
export function capitalized(text: string): string {
	return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
