import type { HumanName } from '#fhir/datatypes.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import { periodOf } from '#fhir/mapping/period.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { joined } from '#fhir/mapping/text.ts';
import { toDateTime } from '#fhir/mapping/timestamp.ts';
import { type NameRepresentation, representation } from '#record/name-representation.ts';
import type { Segment } from '../../message.ts';

/** Table 0200; types without a counterpart in FHIR's name-use leave `use` out. S (pseudonym) is anonymous by definition. */
const uses: Readonly<Record<string, string>> = {
	L: 'official',
	R: 'official',
	D: 'usual',
	M: 'maiden',
	N: 'nickname',
	S: 'anonymous',
	MSK: 'anonymous',
	NAV: 'temp',
	TEMP: 'temp',
	BAD: 'old',
	NOUSE: 'old',
};

/** Table 0465, XPN-8. */
const representations: Readonly<Record<string, NameRepresentation>> = { A: 'ABC', I: 'IDE', P: 'SYL' };

/** XPN (v2.5.1 §2.A.88) as HumanName; undefined without content. */
export function humanName(segment: Segment, field: number, repetition: number, zone: Zone): HumanName | undefined {
	const text = (component: number) => segment.text(field, component, repetition).trim();
	const components = segment.components(field, repetition);
	const family = text(1) || surname(segment, field, repetition);
	const first = components > 1 ? text(2) : '';
	const middle = components > 2 ? text(3) : '';
	const suffixes = components > 3 ? [text(4), text(6), components > 13 ? text(14) : ''] : [];
	const suffix = list(...suffixes);
	const prefix = components > 4 ? text(5) : '';
	const given = list(first, middle);
	// A degree alone names nobody.
	if (joined(prefix, first, middle, family, suffixes[0] ?? '') === '') return undefined;
	const name: HumanName = {};
	const written = components > 7 ? entryOf(representations, text(8)) : undefined;
	if (written !== undefined) Object.assign(name, representation(written));
	const use = components > 6 ? entryOf(uses, text(7)) : undefined;
	if (use !== undefined) name.use = use;
	name.text = joined(prefix, first, middle, family, ...suffixes);
	if (family !== '') name.family = family;
	if (given) name.given = given;
	if (prefix !== '') name.prefix = [prefix];
	if (suffix) name.suffix = suffix;
	if (components > 9) addPeriod(name, segment, field, repetition, zone);
	return name;
}

/** FN (v2.5.1 §2.A.30) of a sender that gives the parts of a surname only: own prefix and name, the partner's behind them. */
function surname(segment: Segment, field: number, repetition: number): string {
	return joined(...[2, 3, 4, 5].map((subcomponent) => segment.text(field, 1, repetition, subcomponent).trim()));
}

/** XPN-12 and 13, else the two halves of XPN-10, which came before them. */
function addPeriod(name: HumanName, segment: Segment, field: number, repetition: number, zone: Zone): void {
	const start = toDateTime(segment.text(field, 12, repetition) || segment.text(field, 10, repetition, 1), zone);
	const end = toDateTime(segment.text(field, 13, repetition) || segment.text(field, 10, repetition, 2), zone);
	const period = periodOf(start, end);
	if (period) name.period = period;
}

/** Every repetition with content; XPN-15, called by, becomes a nickname of its own. */
export function humanNames(segment: Segment, field: number, zone: Zone): HumanName[] {
	const names: HumanName[] = [];
	const repetitions = segment.repetitions(field);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const name = humanName(segment, field, repetition, zone);
		if (name) names.push(name);
		const calledBy = segment.components(field, repetition) > 14 ? segment.text(field, 15, repetition).trim() : '';
		if (calledBy !== '') names.push({ use: 'nickname', text: calledBy, given: [calledBy] });
	}
	return names;
}

function list(...parts: string[]): string[] | undefined {
	const found = parts.filter((part) => part !== '');
	return found.length === 0 ? undefined : found;
}
