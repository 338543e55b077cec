import { completed, type Zone } from './local-zone.ts';
import { entryOf } from './table.ts';

/**
 * TS, DTM, DT and TM (v2.5.1 §2.A.75, §2.A.22, §2.A.21, §2.A.76) as FHIR date, dateTime and time. A FHIR dateTime with
 * a time needs an offset: the value's own, else that of MSH-7, else that of the sender's zone at that local time.
 */
const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `YYYY[MM[DD[HH[MM[SS[.S+]]]]]][+/-ZZZZ]`, digits only. */
interface Stamp {
	/** 4, 6 or 8 digits. */
	date: string;
	/** '' or 2, 4 or 6 digits. */
	time: string;
	/** '' or `.` and digits. */
	fraction: string;
	/** '' or `+hh:mm`. */
	zone: string;
}

export function toDate(text: string): string | undefined {
	const stamp = readStamp(text);
	return stamp && dashed(stamp.date);
}

/** `zone` is for a time without an offset. */
export function toDateTime(text: string, zone: Zone): string | undefined {
	const stamp = readStamp(text);
	if (stamp === undefined) return undefined;
	const date = dashed(stamp.date);
	if (stamp.time === '') return date;
	return completed(`${date}T${clockTime(stamp.time)}`, stamp.fraction, stamp.zone === '' ? zone : stamp.zone);
}

/** Returns a FHIR `instant`, only if the time is given at least to the minute. */
export function toInstant(text: string, zone: Zone): string | undefined {
	const stamp = readStamp(text);
	return stamp && stamp.time.length >= 4 ? toDateTime(text, zone) : undefined;
}

/** Returns a FHIR `instant`: missing minutes are zero, and a day is its midnight. Undefined where only a month or year is known. */
export function toInstantOrMidnight(text: string, zone: Zone): string | undefined {
	const stamp = readStamp(text);
	if (stamp === undefined || stamp.time !== '') return toDateTime(text, zone);
	return stamp.date.length === 8 ? completed(`${dashed(stamp.date)}T00:00:00`, '', stamp.zone === '' ? zone : stamp.zone) : undefined;
}

/** Adds minutes to a FHIR dateTime with a time, in its own offset. Undefined before the year 1 and after 9999. */
export function minutesLater(dateTime: string, minutes: number): string | undefined {
	const local = dateTime.slice(0, 19);
	const later = new Date(Date.parse(`${local}Z`) + Math.round(minutes * 60) * 1000).toISOString();
	return /^(?!0000)\d{4}-/.test(later) ? `${later.slice(0, 19)}${dateTime.slice(19)}` : undefined;
}

/** Units of time in UCUM: minutes, or months of the calendar. */
const minutesOf: Readonly<Record<string, number>> = { s: 1 / 60, min: 1, h: 60, d: 24 * 60, wk: 7 * 24 * 60 };
/** Further than from the first year to the last, and far from what Date can hold. */
const minutesMax = 1e10;
const monthsOf: Readonly<Record<string, number>> = { mo: 1, a: 12 };

/**
 * The dateTime that is so much later than a timestamp, as precise as that is. Undefined for a unit that is none of time, and where the
 * amount is finer than the timestamp.
 */
export function timeLater(text: string, amount: number, unit: string, zone: Zone): string | undefined {
	const stamp = readStamp(text);
	const from = toDateTime(text, zone);
	if (stamp === undefined || from === undefined || !Number.isFinite(amount)) return undefined;
	const months = entryOf(monthsOf, unit);
	if (months !== undefined) return monthsLater(text.trim(), stamp.date, amount * months, zone);
	const minutes = entryOf(minutesOf, unit);
	if (minutes === undefined || Math.abs(amount * minutes) > minutesMax) return undefined;
	if (stamp.time !== '') return minutesLater(from, amount * minutes);
	const days = (amount * minutes) / (24 * 60);
	if (stamp.date.length < 8 || !Number.isInteger(days)) return undefined;
	return minutesLater(`${from}T00:00:00`, amount * minutes)?.slice(0, 10);
}

/** By the calendar: a month after the 31st is the last day of a shorter month, and the time of day stays. */
function monthsLater(text: string, date: string, months: number, zone: Zone): string | undefined {
	const isYear = date.length === 4;
	if (!Number.isInteger(months) || (isYear && months % 12 !== 0)) return undefined;
	const count = Number(date.slice(0, 4)) * 12 + Number(date.slice(4, 6) || '1') - 1 + months;
	const year = Math.floor(count / 12);
	if (year < 1 || year > 9999) return undefined;
	const month = String(year).padStart(4, '0') + (isYear ? '' : String((count % 12) + 1).padStart(2, '0'));
	const rest = text.slice(date.length);
	if (date.length < 8) return toDateTime(month + rest, zone);
	const days = [0, 1, 2, 3].map((fewer) => String(Number(date.slice(6)) - fewer).padStart(2, '0'));
	return days.map((day) => toDateTime(month + day + rest, zone)).find((found) => found !== undefined);
}

/** TM: `HH[MM[SS[.S+]]][+/-ZZZZ]`; a FHIR time has no offset. */
export function toTime(text: string): string | undefined {
	const { body } = splitZone(text.trim());
	const { digits, fraction } = splitFraction(body);
	if (!isTime(digits) || (fraction !== '' && digits.length !== 6)) return undefined;
	return `${clockTime(digits)}${fraction}`;
}

export function hasTime(text: string): boolean {
	return (readStamp(text)?.time ?? '') !== '';
}

/** The offset of a timestamp as FHIR writes it; undefined when it has none. */
export function zoneOf(text: string): string | undefined {
	const { zone } = splitZone(text.trim());
	return zone === '' ? undefined : zone;
}

function readStamp(text: string): Stamp | undefined {
	const { body, zone } = splitZone(text.trim());
	const { digits, fraction } = splitFraction(body);
	const date = digits.slice(0, 8);
	const time = digits.slice(8);
	if (!isDate(date) || (time !== '' && !isTime(time)) || (fraction !== '' && time.length !== 6)) return undefined;
	return zone === undefined ? undefined : { date, time, fraction, zone };
}

function splitZone(text: string): { body: string; zone: string | undefined } {
	const at = text.length - 5;
	const sign = at > 0 ? text.charCodeAt(at) : 0;
	if (sign !== 0x2b && sign !== 0x2d) return { body: text, zone: '' };
	const hours = text.slice(at + 1, at + 3);
	const minutes = text.slice(at + 3);
	const valid = isDigits(hours) && isDigits(minutes) && Number(minutes) < 60 && Number(hours) * 60 + Number(minutes) <= 14 * 60;
	if (!valid) return { body: text, zone: undefined };
	const negative = sign === 0x2d && (hours !== '00' || minutes !== '00');
	return { body: text.slice(0, at), zone: `${negative ? '-' : '+'}${hours}:${minutes}` };
}

function splitFraction(text: string): { digits: string; fraction: string } {
	const point = text.indexOf('.');
	if (point === -1) return { digits: text, fraction: '' };
	const fraction = text.slice(point);
	// An invalid fraction makes the whole value invalid, so it is left at a place where no digit check accepts it.
	return fraction.length > 1 && fraction.length <= 10 && isDigits(fraction.slice(1))
		? { digits: text.slice(0, point), fraction }
		: { digits: text, fraction: '' };
}

function isDigits(text: string): boolean {
	for (let index = 0; index < text.length; index++) {
		const code = text.charCodeAt(index);
		if (code < 0x30 || code > 0x39) return false;
	}
	return text !== '';
}

function isDate(digits: string): boolean {
	if ((digits.length !== 4 && digits.length !== 6 && digits.length !== 8) || !isDigits(digits)) return false;
	const year = Number(digits.slice(0, 4));
	if (year === 0) return false;
	if (digits.length === 4) return true;
	const month = Number(digits.slice(4, 6));
	const days = daysOfMonth[month - 1];
	if (days === undefined) return false;
	if (digits.length === 6) return true;
	const day = Number(digits.slice(6));
	const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
	return day >= 1 && day <= days && (month !== 2 || day < 29 || leap);
}

function isTime(digits: string): boolean {
	if ((digits.length !== 2 && digits.length !== 4 && digits.length !== 6) || !isDigits(digits)) return false;
	return Number(digits.slice(0, 2)) < 24 && Number(digits.slice(2, 4)) < 60 && Number(digits.slice(4)) < 60;
}

function dashed(digits: string): string {
	if (digits.length === 4) return digits;
	const month = `${digits.slice(0, 4)}-${digits.slice(4, 6)}`;
	return digits.length === 6 ? month : `${month}-${digits.slice(6)}`;
}

/** FHIR requires minutes and seconds; omitted ones become zero (R4 §2.24.0.1, dateTime). */
function clockTime(digits: string): string {
	return `${digits.slice(0, 2)}:${digits.slice(2, 4) || '00'}:${digits.slice(4) || '00'}`;
}
