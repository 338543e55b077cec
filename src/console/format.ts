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

/** Formats a number with at most three significant figures. */
export function figure(value: number): string {
	const size = Math.abs(value);
	return (size >= 100 || Number.isInteger(value) ? whole : size >= 10 ? tenths : hundredths).format(value);
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
