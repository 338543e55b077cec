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
 * XTN (v2.5.1 §2.A.89) as ContactPoints: XTN-1, else 12 (unformatted), else the parts 5 to 8; XTN-4 for e-mail. A number and an address in one
 * repetition are two. `use` is that of an item that names none.
 */
function pointsOf(segment: Segment, field: number, repetition: number, use: string | undefined, zone: Zone): ContactPoint[] {
	const text = (component: number) => segment.text(field, component, repetition).trim();
	const components = segment.components(field, repetition);
	const useCode = components > 1 ? text(2).toUpperCase() : '';
	const equipment = components > 2 ? text(3).toUpperCase() : '';
	const email = components > 3 ? text(4) : '';
	const first = text(1);
	const phone = first || (components > 4 ? text(12) || number(text) : '');
	let system = entryOf(systems, equipment) ?? 'phone';
	if (system === 'email' || useCode === 'NET' || (equipment === '' && phone === '' && email !== '')) system = 'email';
	if (equipment === '' && email === '' && first.includes('@')) system = 'email';
	const value = system === 'email' ? email || phone : phone || email;
	if (value === '') return [];
	const points: ContactPoint[] = [{ system, value }];
	const other = system === 'email' ? phone : email;
	if (other !== value && isOfOtherKind(other, system)) points.push({ system: system === 'email' ? 'phone' : 'email', value: other });
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

/** `+country area local Xextension`. */
function number(text: (component: number) => string): string {
	const [country, area, local, extension] = [text(5), text(6), text(7), text(8)];
	if (local === '' && area === '') return '';
	const international = country === '' || country.startsWith('+') ? country : `+${country}`;
	return joined(international, area, local, extension === '' ? '' : `X${extension}`);
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
