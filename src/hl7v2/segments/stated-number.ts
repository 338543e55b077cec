import { exactDecimal, type Json } from '#core/json.ts';
import type { Quantity } from '#fhir/datatypes.ts';
import { decimal } from '#fhir/mapping/decimal.ts';
import { quantity, type Unit } from './quantity.ts';

/** FHIR's extension for the text from which a value was read. */
export const originalText = 'http://hl7.org/fhir/StructureDefinition/originalText';

/** A comparator, a number in one word, and one further word. */
const stated = /^\s*([<>]=?)?\s*([+-]?[\d.,]+(?:[eE][+-]?\d{1,2})?)(?:\s*([^\s\d.,][^\s]{0,19}))?\s*$/;

/** Words behind a number that can only be a unit. Any other needs an OBX-6 that says the same. */
const units: ReadonlySet<string> = new Set(
	'% g kg mg ug µg mcg ng pg L dL mL uL µL fL m cm mm km mol mmol umol µmol nmol pmol mEq meq IU U kU mIU mU Pa kPa mmHg mm[Hg] bpm Hz °C Cel s min h mV mS'.split(
		' ',
	),
);
const ratio = /^[A-Za-zµ%\d[\]*^.]+\/[A-Za-zµ\d[\]*^.]+$/;

/**
 * Reads a number as people write it: `5,4 mmol/L`, `1.0E3`, `< 12 mg`. Undefined where it may mean something else: `1,234` (thousands or a
 * fraction), `1 234`, a word that may be no unit, a unit other than that of OBX-6. The text is kept beside the value.
 */
export function statedQuantity(text: string, unit: Unit): Quantity | undefined {
	const [, comparator, number = '', word] = stated.exec(text) ?? [];
	const value = numberOf(number);
	if (value === undefined || (word !== undefined && !isUnit(word, unit))) return undefined;
	const read = quantity(value, word !== undefined && unit.unit === undefined ? { unit: word } : unit, comparator);
	return { extension: [{ url: originalText, valueString: text.trim() }], ...read };
}

function isUnit(word: string, { unit }: Unit): boolean {
	return unit === undefined ? units.has(word) || ratio.test(word) : folded(word) === folded(unit);
}

function folded(unit: string): string {
	return unit.replaceAll(' ', '').toLowerCase();
}

/** A comma before exactly three digits may separate thousands, unless only a zero stands before it. */
const decimalComma = /^([+-]?)(?:(\d+),(\d{1,2}|\d{4,})|(0),(\d{3}))$/;

function numberOf(text: string): Json | undefined {
	const [, mantissa = '', exponent] = /^([^eE]+)([eE].+)?$/.exec(text) ?? [];
	const comma = decimalComma.exec(mantissa);
	const plain = comma ? `${comma[1]}${comma[2] ?? comma[4]}.${comma[3] ?? comma[5]}` : mantissa;
	const value = decimal(plain);
	if (value === undefined || exponent === undefined) return value;
	return exactDecimal(`${JSON.stringify(value)}${exponent}`);
}

/** Puts a unit behind a text that is no number, so that whoever reads the one reads the other. */
export function withUnit(text: string, { unit }: Unit): string {
	if (unit === undefined || text === '') return text;
	const before = text.toLowerCase().endsWith(unit.toLowerCase()) ? text.charAt(text.length - unit.length - 1) : '-';
	if (before === '' || /[\s\d]/.test(before)) return text;
	return /\d\s*[^\s\d.,]+$/.test(text) ? `${text} (${unit})` : `${text} ${unit}`;
}
