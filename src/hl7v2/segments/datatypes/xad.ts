import type { Address } from '#fhir/datatypes.ts';
import { addressOf } from '#fhir/mapping/address.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import { periodOf } from '#fhir/mapping/period.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { joined } from '#fhir/mapping/text.ts';
import { toDateTime } from '#fhir/mapping/timestamp.ts';
import type { Segment } from '../../message.ts';

/** Table 0190, as far as FHIR's address-use covers it. */
const uses: Readonly<Record<string, string>> = { BA: 'old', BI: 'billing', C: 'temp', B: 'work', O: 'work', H: 'home' };
/** The type of an address, from the same table. */
const types: Readonly<Record<string, string>> = { M: 'postal', SH: 'postal' };

/** XAD (v2.5.1 §2.A.83) as Address; undefined without content. */
function address(segment: Segment, field: number, repetition: number, zone: Zone): Address | undefined {
	const text = (component: number) => segment.text(field, component, repetition).trim();
	// SAD: the street address, else the dwelling number and the street's name.
	const street = text(1) || joined(segment.text(field, 1, repetition, 3), segment.text(field, 1, repetition, 2));
	const line = [street, text(2)].filter((part) => part !== '');
	const kind = text(7);
	const result = addressOf({
		line,
		city: text(3),
		state: text(4),
		postalCode: text(5),
		country: text(6),
		district: text(9),
		use: entryOf(uses, kind),
		type: entryOf(types, kind),
	});
	if (result === undefined) return undefined;
	if (segment.components(field, repetition) > 11) addPeriod(result, segment, field, repetition, zone);
	return result;
}

/** XAD-13 and 14, else the two halves of XAD-12, which came before them. */
function addPeriod(result: Address, segment: Segment, field: number, repetition: number, zone: Zone): void {
	const start = toDateTime(segment.text(field, 13, repetition) || segment.text(field, 12, repetition, 1), zone);
	const end = toDateTime(segment.text(field, 14, repetition) || segment.text(field, 12, repetition, 2), zone);
	const period = periodOf(start, end);
	if (period) result.period = period;
}

export function addresses(segment: Segment, field: number, zone: Zone): Address[] {
	const found: Address[] = [];
	const repetitions = segment.repetitions(field);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const item = address(segment, field, repetition, zone);
		if (item) found.push(item);
	}
	return found;
}
