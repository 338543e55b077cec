import { isRawJson, type Json, type JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText } from './elements.ts';
import { conceptCode, conceptText, observedText, rangeText } from './summaries.ts';

/** A bound of a reference range. `5` of `<5` is not itself in the range. */
interface Bound {
	digits: string;
	inclusive: boolean;
}

/** The value of an observation, or of one of its components, with what its sender stated about it and what follows from its range. */
export interface Measured {
	code: string;
	system: string;
	text: string;
	/** The value as people read it, with comparator and unit. */
	value: string;
	/** The number with its digits; null where the value is none. */
	digits: string | null;
	comparator: string;
	unit: string;
	low: string | null;
	high: string | null;
	range: string;
	/** The sender's own flag (OBX-8) as text. */
	interpretation: string;
	flag: Flag | null;
	/** The side of the reference range on which the value lies; null where it is in range, or where nothing certain follows. */
	derived: 'low' | 'high' | null;
}

export const flags = ['normal', 'low', 'high', 'abnormal'] as const;
type Flag = (typeof flags)[number];

/** Codes of v3-ObservationInterpretation, which has those of table 0078. */
const meanings: Readonly<Record<string, Flag>> = {
	...{ N: 'normal', NEG: 'normal', ND: 'normal', NR: 'normal' },
	...{ L: 'low', LL: 'low', LU: 'low', LX: 'low', '<': 'low' },
	...{ H: 'high', HH: 'high', HU: 'high', HX: 'high', '>': 'high' },
	...{ A: 'abnormal', AA: 'abnormal', POS: 'abnormal', DET: 'abnormal', RR: 'abnormal', WR: 'abnormal', TOX: 'abnormal' },
};

/** These statuses say that the value does not hold. */
const unheld: ReadonlySet<string> = new Set(['entered-in-error', 'cancelled']);

/** The values of an observation: its own, or else those of its components. */
export function measuredValues(observation: JsonObject): Measured[] {
	const components = asObjects(observation['component']);
	const own = measured(observation, observation);
	if (components.length === 0) return [own];
	// A repeated value is kept in components that have the code and the range of the observation.
	const inherited: JsonObject = observation['referenceRange'] === undefined ? {} : { referenceRange: observation['referenceRange'] };
	const parts = components.map((component) => {
		const isRepeated = JSON.stringify(component['code']) === JSON.stringify(observation['code']);
		const part = measured(isRepeated ? { ...inherited, ...component } : component, observation);
		return part.code === own.code && part.text === own.text ? part : { ...part, text: `${own.text}: ${part.text}` };
	});
	return own.value === '' ? parts : [own, ...parts];
}

/** @param part the observation itself, or one of its components */
export function measured(part: JsonObject, observation: JsonObject): Measured {
	const quantity = asObject(part['valueQuantity']);
	const digits = digitsOf(quantity?.['value']);
	const bounds = boundsOf(part, quantity);
	const interpretations = asObjects(part['interpretation']);
	const comparator = asText(quantity?.['comparator']) ?? '';
	const holds = !unheld.has(asText(observation['status']) ?? '');
	return {
		code: conceptCode(part['code']),
		system: asText(asObjects(asObject(part['code'])?.['coding'])[0]?.['system']) ?? '',
		text: conceptText(part['code']),
		value: observedText(part),
		digits,
		comparator,
		unit: unitText(quantity),
		low: bounds.low?.digits ?? null,
		high: bounds.high?.digits ?? null,
		range: rangeText(part),
		interpretation: interpretations.map(conceptText).join(', '),
		flag: flagOf(interpretations),
		derived: digits === null || !holds ? null : derivedFlag(Number(digits), comparator, bounds),
	};
}

function digitsOf(value: Json | undefined): string | null {
	const text = typeof value === 'number' || isRawJson(value) ? JSON.stringify(value) : '';
	return text !== '' && Number.isFinite(Number(text)) ? text : null;
}

function unitText(quantity: JsonObject | undefined): string {
	return asText(quantity?.['unit']) ?? asText(quantity?.['code']) ?? '';
}

/** The first flag that says low, high or abnormal, else the first that says normal. */
function flagOf(interpretations: readonly JsonObject[]): Flag | null {
	const known = interpretations
		.flatMap((concept) => asObjects(concept['coding']))
		.flatMap((coding) => meanings[asText(coding['code']) ?? ''] ?? []);
	return known.find((flag) => flag !== 'normal') ?? known[0] ?? null;
}

interface Bounds {
	low?: Bound;
	high?: Bound;
}

/** `<5` and `> 1` are forms of OBX-7 (v2.5.1 §7.4.2.7) that have no counterpart in FHIR, whose bounds are inclusive. */
const exclusive = /^\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*$/;

/**
 * The bounds that hold for the value. There are none if several ranges might apply (for ages or sexes), or if a bound has another unit than
 * the value: nothing is guessed and nothing is converted.
 */
function boundsOf(part: JsonObject, quantity: JsonObject | undefined): Bounds {
	const general = asObjects(part['referenceRange']).filter((range) => {
		const type = conceptCode(range['type']);
		return range['appliesTo'] === undefined && range['age'] === undefined && (type === '' || type === 'normal');
	});
	const [range, another] = general;
	if (range === undefined || another !== undefined) return {};
	const [low, high] = [boundOf(asObject(range['low']), quantity), boundOf(asObject(range['high']), quantity)];
	if (low === 'foreign' || high === 'foreign') return {};
	if (low !== undefined || high !== undefined) return { ...(low && { low }), ...(high && { high }) };
	const [, sign, digits] = exclusive.exec(asText(range['text']) ?? '') ?? [];
	if (digits === undefined) return {};
	return { [sign === '<' ? 'high' : 'low']: { digits: digits.replace(/^\+/, ''), inclusive: false } };
}

function boundOf(bound: JsonObject | undefined, quantity: JsonObject | undefined): Bound | 'foreign' | undefined {
	const digits = digitsOf(bound?.['value']);
	if (bound === undefined || digits === null) return undefined;
	return isSameUnit(bound, quantity) ? { digits, inclusive: true } : 'foreign';
}

/** A bound without a unit has that of the value. */
function isSameUnit(bound: JsonObject, quantity: JsonObject | undefined): boolean {
	const [code, other] = [asText(bound['code']), asText(quantity?.['code'])];
	if (code !== undefined && other !== undefined && bound['system'] === quantity?.['system']) return code === other;
	return unitText(bound) === '' || unitText(bound) === unitText(quantity);
}

/**
 * Says on which side of its range a value certainly lies. `<5` may be any lower value: it is low where the range begins at 5 or above, and is
 * never high. `>5` is judged alike.
 */
export function derivedFlag(value: number, comparator: string, { low, high }: Bounds): 'low' | 'high' | null {
	const mayBeHigher = comparator.startsWith('>');
	const mayBeLower = comparator.startsWith('<');
	// `<5` excludes 5 itself; so does a range that begins above 5.
	const outAtBound = (bound: Bound, sign: string) => comparator === sign || !bound.inclusive;
	if (low !== undefined && !mayBeHigher) {
		const bound = Number(low.digits);
		if (value < bound || (value === bound && outAtBound(low, '<'))) return 'low';
	}
	if (high !== undefined && !mayBeLower) {
		const bound = Number(high.digits);
		if (value > bound || (value === bound && outAtBound(high, '>'))) return 'high';
	}
	return null;
}
