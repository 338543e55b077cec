import type { ContactPoint } from '#fhir/datatypes.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import { periodOf } from '#fhir/mapping/period.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { joined } from '#fhir/mapping/text.ts';
import { toDateTime } from '#fhir/mapping/timestamp.ts';
import type { Segment } from '../../message.ts';

/** Table 0201, telecommunication use; codes without a counterpart leave `use` to the field. */
const uses: Readonly<Record<string, string>> = { PRN: 'home', ORN: 'home', VHN: 'home', WPN: 'work', PRS: 'mobile' };

/** Table 0202, equipment. CP is a phone whose use is mobile. */
const systems: Readonly<Record<string, string>> = {
	PH: 'phone',
	CP: 'phone',
	SAT: 'phone',
	TDD: 'phone',
	TTY: 'phone',
	FX: 'fax',
	BP: 'pager',
	MD: 'other',
	INTERNET: 'email',
	'X.400': 'email',
};

/**
 * XTN (v2.5.1 §2.A.89) as ContactPoints: the numbers of `numbersOf`, and XTN-4 for e-mail. A number and an address in one
 * repetition are two. `use` is that of an item that names none.
 */
function pointsOf(segment: Segment, field: number, repetition: number, use: string | undefined, zone: Zone): ContactPoint[] {
	const text = (component: number) => segment.text(field, component, repetition).trim();
	const components = segment.components(field, repetition);
	const useCode = components > 1 ? text(2).toUpperCase() : '';
	const equipment = components > 2 ? text(3).toUpperCase() : '';
	const email = components > 3 ? text(4) : '';
	const first = text(1);
	const [phone = '', ...further] = components > 4 ? numbersOf(first, text) : [first];
	let system = entryOf(systems, equipment) ?? 'phone';
	if (system === 'email' || useCode === 'NET' || (equipment === '' && phone === '' && email !== '')) system = 'email';
	if (equipment === '' && email === '' && first.includes('@')) system = 'email';
	const value = system === 'email' ? email || phone : phone || email;
	if (value === '') return [];
	const points: ContactPoint[] = [{ system, value }];
	const other = system === 'email' ? phone : email;
	if (other !== value && isOfOtherKind(other, system)) points.push({ system: system === 'email' ? 'phone' : 'email', value: other });
	for (const number of further) points.push({ system: system === 'email' ? 'phone' : system, value: number });
	const pointUse = entryOf(uses, useCode) ?? (equipment === 'CP' ? 'mobile' : use);
	for (const point of points) {
		if (pointUse !== undefined) point.use = pointUse;
		if (components > 12) addRankAndPeriod(point, segment, field, repetition, zone);
	}
	return points;
}

/** A number beside an e-mail address, or an address beside a number. */
function isOfOtherKind(text: string, system: string): boolean {
	return system === 'email' ? /\d/.test(text) && !text.includes('@') : text.includes('@');
}

interface PhoneNumber {
	value: string;
	/** The digits by which it is compared with another one; a zero before the area code does not count. */
	digits: string;
}

const isBareNumber = /^[\d\s()+./-]+$/;

/**
 * Returns the numbers of a repetition: XTN-1, 12 (unformatted) and the parts 5 to 8. These state one number as a rule: a later one is left out
 * if an earlier one has its digits, and takes the place of one that has fewer. Where they differ, each is a number of its own. The extension
 * belongs to the parts, else to the first number.
 */
function numbersOf(first: string, text: (component: number) => string): string[] {
	const extension = text(8).replace(/^(?:x|ext(?:ension|n)?|#)[\s.:]*(?=\d)/i, '');
	const parts = partsOf(text);
	const numbers: PhoneNumber[] = [];
	for (const number of [stated(first.includes('@') ? '' : first), stated(text(12)), parts]) {
		if (number.value === '' || numbers.some((earlier) => states(earlier, number))) continue;
		const isLess = (earlier: PhoneNumber) => earlier.digits !== '' && isBareNumber.test(earlier.value) && states(number, earlier);
		const place = numbers.findIndex(isLess);
		if (place === -1) numbers.push(number);
		else numbers.splice(place, 1, number);
	}
	const owner = (parts.value === '' ? undefined : numbers.find((number) => states(number, parts))) ?? numbers[0];
	const values = numbers.map((number) =>
		number !== owner || extension === '' || hasExtension(number, parts, extension) ? number.value : `${number.value} X${extension}`,
	);
	return first.includes('@') ? [first, ...values] : values;
}

function stated(value: string): PhoneNumber {
	return { value, digits: digitsOf(value) };
}

/** `+country area local`. */
function partsOf(text: (component: number) => string): PhoneNumber {
	const [country, area, local] = [text(5), text(6), text(7)];
	if (local === '' && area === '') return stated('');
	const international = country === '' || country.startsWith('+') ? country : `+${country}`;
	// Some senders repeat the area code before the local number, which has seven digits or fewer in most plans.
	const isWhole = local.length > 7 && local.startsWith(area);
	return { value: joined(international, area, local), digits: digitsOf(isWhole ? local : `${area}${local}`) };
}

function digitsOf(value: string): string {
	return value.replace('(0)', '').replace(/\D/g, '').replace(/^0+/, '');
}

/** Tells whether `number` says all that `other` says. */
function states(number: PhoneNumber, other: PhoneNumber): boolean {
	return number.value.includes(other.value) || (other.digits !== '' && number.digits.includes(other.digits));
}

/** Tells whether a number ends in the extension already: behind a word for it, or behind the digits of the parts. */
function hasExtension({ value, digits }: PhoneNumber, parts: PhoneNumber, extension: string): boolean {
	if (parts.digits !== '' && /^\d+$/.test(extension) && digits.endsWith(`${parts.digits}${extension}`)) return true;
	if (!value.endsWith(extension)) return false;
	return /(?:x|ext(?:ension|n)?|#|;ext=|,)[\s.:]*$/i.test(value.slice(0, -extension.length));
}

function addRankAndPeriod(point: ContactPoint, segment: Segment, field: number, repetition: number, zone: Zone): void {
	const start = toDateTime(segment.text(field, 13, repetition), zone);
	const end = toDateTime(segment.text(field, 14, repetition), zone);
	const period = periodOf(start, end);
	if (period) point.period = period;
	const rank = segment.text(field, 18, repetition);
	if (/^[1-9]\d{0,8}$/.test(rank)) point.rank = Number(rank);
}

export function contactPoints(segment: Segment, field: number, use: string | undefined, zone: Zone): ContactPoint[] {
	const points: ContactPoint[] = [];
	const repetitions = segment.repetitions(field);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		points.push(...pointsOf(segment, field, repetition, use, zone));
	}
	return points;
}
