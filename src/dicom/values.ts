import type { InstancePatient } from '#record/instance.ts';

/** Values of PS3.5 §6.2 as the record keeps them. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const controls = /[\u0000-\u001f\u007f]+/g;

/** Without padding and control characters (PostgreSQL knows no NUL); undefined when nothing is left. */
export function textOf(text: string): string | undefined {
	let start = 0;
	let end = text.length;
	while (start < end && text.charCodeAt(start) <= 0x20) start += 1;
	while (end > start && text.charCodeAt(end - 1) <= 0x20) end -= 1;
	if (start === end) return undefined;
	const bare = start === 0 && end === text.length ? text : text.slice(start, end);
	for (let at = 0; at < bare.length; at++) {
		const code = bare.charCodeAt(at);
		if (code < 0x20 || code === 0x7f || code === 0xa0 || code === 0x3000) return bare.replace(controls, ' ').trim() || undefined;
	}
	return bare;
}

/** The first value of a code string, an integer string or a UID. */
export function firstOf(text: string): string | undefined {
	const end = text.indexOf('\\');
	return textOf(end < 0 ? text : text.slice(0, end));
}

/** IS: undefined beyond 32 bits. */
export function integerOf(text: string): number | undefined {
	const first = firstOf(text);
	if (first === undefined || !/^[+-]?\d{1,10}$/.test(first)) return undefined;
	const value = Number(first);
	return Math.abs(value) <= 0x7f_ff_ff_ff ? value : undefined;
}

const monthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** DA (`YYYYMMDD`, before 1993 `YYYY.MM.DD`) as a FHIR date; undefined when the calendar does not have it. */
export function dateOf(text: string): string | undefined {
	const match = /^(\d{4})(\.?)(\d\d)\2(\d\d)$/.exec(firstOf(text) ?? '');
	if (!match) return undefined;
	const [, year = '', , month = '', day = ''] = match;
	const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
	const days = month === '02' && !isLeap ? 28 : (monthDays[Number(month) - 1] ?? 0);
	if (year === '0000' || Number(day) < 1 || Number(day) > days) return undefined;
	return `${year}-${month}-${day}`;
}

/**
 * TM (`HHMMSS.FFFFFF`, shorter, or with colons) to the second; a leap second is the last one of its minute. How many digits a fraction has is not
 * asked: some writers give seven, and it is cut off anyway.
 */
export function timeOf(text: string): string | undefined {
	const match = /^(\d\d)(?::?(\d\d)(?::?(\d\d)(?:\.\d*)?)?)?$/.exec(firstOf(text) ?? '');
	if (!match) return undefined;
	const [, hour = '', minute = '00', second = '00'] = match;
	if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
	return `${hour}:${minute}:${second === '60' ? '59' : second}`;
}

/** FHIR date, or dateTime without zone where there is a time. */
export function dateTimeOf(date: string, time: string): string | undefined {
	const day = dateOf(date);
	const clock = day === undefined ? undefined : timeOf(time);
	return clock === undefined ? day : `${day}T${clock}`;
}

/** (0008,0201): `&ZZXX` (PS3.3 §C.12.1.1), as FHIR writes an offset. */
export function offsetOf(text: string): string | undefined {
	const [, sign, hours = '', minutes = ''] = /^\s*([+-])(\d\d)([0-5]\d)\s*$/.exec(text) ?? [];
	return sign === undefined || Number(hours) * 60 + Number(minutes) > 14 * 60 ? undefined : `${sign}${hours}:${minutes}`;
}

/** A decoded PN by its component groups (PS3.5 §6.2.1). */
export interface PersonName {
	/** Family, given, middle, prefix, suffix; empty where absent. */
	alphabetic: readonly [string, string, string, string, string];
	/** Whole groups with `^` between their components. */
	ideographic: string;
	phonetic: string;
}

function componentsOf(group: string): string[] {
	return group === '' ? [] : group.split('^').map((component) => textOf(component) ?? '');
}

function groupText(group: string): string {
	const parts = componentsOf(group);
	while (parts.at(-1) === '') parts.pop();
	return parts.join('^');
}

/** Undefined when every group is empty. */
export function personNameOf(text: string): PersonName | undefined {
	const [alphabetic = '', ideographic = '', phonetic = ''] = text.split('=');
	const [family = '', given = '', middle = '', prefix = '', suffix = ''] = componentsOf(alphabetic);
	const name: PersonName = {
		alphabetic: [family, given, middle, prefix, suffix],
		ideographic: groupText(ideographic),
		phonetic: groupText(phonetic),
	};
	return name.alphabetic.some((part) => part !== '') || name.ideographic !== '' || name.phonetic !== '' ? name : undefined;
}

/** PN as the record keeps it: the components of the alphabetic group, and the other groups whole. */
export function namePartsOf(text: string): InstancePatient['name'] {
	const name = personNameOf(text);
	if (name === undefined) return undefined;
	const [family, given, middle, prefix, suffix] = name.alphabetic;
	return { family, given, middle, prefix, suffix, ideographic: name.ideographic, phonetic: name.phonetic };
}

const sexes: Readonly<Record<string, NonNullable<InstancePatient['gender']>>> = { M: 'male', F: 'female', O: 'other', U: 'unknown' };

/** (0010,0040) as FHIR writes it. */
export function sexOf(text: string): InstancePatient['gender'] {
	return sexes[(firstOf(text) ?? '').toUpperCase()];
}

/** One name as one text: its three groups with `=` between them and `^` between their components, without what is empty at the end. */
export function nameTextOf(text: string): string | undefined {
	const end = text.indexOf('\\');
	const first = end < 0 ? text : text.slice(0, end);
	const name = first.split('=', 3).map(groupText).join('=').replace(/=+$/, '');
	return name === '' ? undefined : name;
}
