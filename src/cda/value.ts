import { exactDecimal, type Json, type JsonObject } from '#core/json.ts';
import type { Quantity, Range } from '#fhir/datatypes.ts';
import { codingSystem } from '#fhir/mapping/coding-system.ts';
import { decimal, half, isGreater, sum } from '#fhir/mapping/decimal.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { codeText } from '#fhir/mapping/text.ts';
import type { Context } from '#hl7v3/context.ts';
import { flag, time } from '#hl7v3/datatypes/ts.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import { concept, type Reading, timing } from './statement.ts';

/** `value[x]`: the element and what it holds. */
export interface Value {
	element: string;
	value: Json;
}

/** The data type that xsi:type names, without its prefix; else what the attributes look like. */
export function typeOf(element: XmlElement): string {
	for (const name in element.attributes) {
		if (name === 'type' || name.endsWith(':type')) return element.attribute(name).replace(/^.*:/, '');
	}
	if (element.attribute('code') !== '') return 'CD';
	if (['low', 'high', 'center', 'width'].some((part) => element.first(part))) return 'IVL_PQ';
	if (element.attribute('value') !== '') return 'PQ';
	return element.text === '' ? '' : 'ST';
}

type Reader = (element: XmlElement, reading: Reading) => Value | undefined;

const coded: Reader = (element, reading) => {
	const value = concept(element, reading);
	return value && { element: 'valueCodeableConcept', value };
};
const text: Reader = (element, { narrative }) => string(narrative.textIn(element));
const ratio: Reader = (element, reading) => {
	const numerator = measured(element.first('numerator'), reading);
	const denominator = measured(element.first('denominator'), reading);
	return numerator && denominator && { element: 'valueRatio', value: { numerator, denominator } };
};
const number: Reader = (element, reading) => {
	const value = measured(element, reading);
	return value && { element: 'valueQuantity', value };
};

/** Data Types R1 by their names in xsi:type (CF-results of C-CDA on FHIR, and what else CDA R2 lets stand there). */
const readers: Readonly<Record<string, Reader>> = {
	PQ: number,
	REAL: number,
	INT: integer,
	IVL_PQ: interval,
	IVL_INT: interval,
	IVL_REAL: interval,
	CD: coded,
	CE: coded,
	CO: coded,
	CV: coded,
	CS: coded,
	ST: text,
	SC: text,
	ED: text,
	RTO: ratio,
	RTO_PQ_PQ: ratio,
	RTO_INT_INT: ratio,
	TS: (element, { context }) => {
		const value = time(element, context);
		return value === undefined ? undefined : { element: 'valueDateTime', value };
	},
	IVL_TS: (element, { context }) => {
		const { dateTime, period } = timing(element, context);
		if (dateTime !== undefined) return { element: 'valueDateTime', value: dateTime };
		return period && { element: 'valuePeriod', value: period };
	},
	BL: (element, { context }) => {
		const value = flag(element, context);
		return value === undefined ? undefined : { element: 'valueBoolean', value };
	},
	MO: (element) => string([element.attribute('value'), element.attribute('currency')].filter((part) => part !== '').join(' ')),
};

/** One value of an observation. Undefined, and flagged unless it has a nullFlavor or is empty, where FHIR has no counterpart. */
export function valueIn(element: XmlElement, reading: Reading): Value | undefined {
	const type = typeOf(element);
	const reader = entryOf(readers, type);
	if (reader === undefined) {
		if (!element.isNull && type !== '') reading.context.skipped(element, 'its data type has no counterpart in FHIR');
		return undefined;
	}
	// Without a proper code or a unit of UCUM there may still be a translation, or text.
	if (element.isNull && reader !== coded && reader !== number) return undefined;
	return reader(element, reading);
}

function string(value: string): Value | undefined {
	return value === '' ? undefined : { element: 'valueString', value };
}

function integer(element: XmlElement, { context }: Reading): Value | undefined {
	const digits = element.attribute('value');
	const value = /^[+-]?\d{1,10}$/.test(digits) ? Number(digits) : Number.NaN;
	if (Math.abs(value) <= 2_147_483_647) return { element: 'valueInteger', value: value === 0 ? 0 : value };
	const found = quantity(element, context);
	return found && { element: 'valueQuantity', value: found };
}

const ucum = 'http://unitsofmeasure.org';

/** PQ (Data Types R1 §2.24), INT and REAL; undefined without a number, flagged where it is none. */
export function quantity(element: XmlElement | undefined, context: Context): Quantity | undefined {
	if (element === undefined || element.isNull) return undefined;
	const digits = element.attribute('value');
	if (digits === '') return undefined;
	const value = real(digits);
	if (value === undefined) {
		context.unreadable(element, 'is no number and was left out');
		return undefined;
	}
	return { value, ...unit(element.attribute('unit')) };
}

/**
 * PQ, else the first of its translations with a number (PQR, Data Types R1): those state what was measured in another unit, and are all
 * that there is where the sender knows no unit of UCUM. One of UCUM comes before others.
 */
export function measured(element: XmlElement | undefined, reading: Reading): Quantity | undefined {
	const own = quantity(element, reading.context);
	if (own !== undefined || element === undefined) return own;
	const found = element.children('translation').map((translation) => translated(translation, reading));
	return found.find((one) => one?.system === ucum) ?? found.find((one) => one !== undefined);
}

/** The nullFlavor of a PQR is about the code of its unit. The number stands beside it. */
function translated(translation: XmlElement, { context, narrative }: Reading): Quantity | undefined {
	const digits = translation.attribute('value');
	if (digits === '') return undefined;
	const value = real(digits);
	if (value === undefined) {
		context.unreadable(translation, 'is no number and was left out');
		return undefined;
	}
	const code = translation.isNull ? '' : codeText(translation.attribute('code'));
	const system = codingSystem(translation.attribute('codeSystem')) || codingSystem(translation.attribute('codeSystemName'));
	const unit = narrative.textIn(translation.first('originalText')) || translation.attribute('displayName') || code;
	if (unit === '') context.unreadable(translation, 'names no unit; its number was kept without one');
	return { value, ...(unit === '' ? {} : { unit }), ...(code === '' || system === '' ? {} : { system, code }) };
}

/** A unit is a code of UCUM; what has spaces is none, but is kept for people. */
function unit(code: string): Omit<Quantity, 'value'> {
	if (code === '') return {};
	return /\s/.test(code) ? { unit: code } : { unit: code, system: ucum, code };
}

/** xs:double, with the digits as sent. */
function real(text: string): Json | undefined {
	const at = text.search(/[eE]/);
	if (at < 0) return decimal(text);
	const exponent = /^[+-]?\d{1,3}$/.test(text.slice(at + 1)) ? Number(text.slice(at + 1)) : Number.NaN;
	const mantissa = decimal(text.slice(0, at));
	if (mantissa === undefined || !(Math.abs(exponent) <= 300)) return undefined;
	return exactDecimal(`${JSON.stringify(mantissa)}e${exponent}`);
}

/** IVL<PQ>: both bounds as Range, one as Quantity with a comparator. */
function interval(element: XmlElement, reading: Reading): Value | undefined {
	const low = element.first('low');
	const high = element.first('high');
	const bounds = rangeOf(element, reading);
	if (bounds?.low && bounds.high) return { element: 'valueRange', value: bounds };
	if (bounds?.low) return { element: 'valueQuantity', value: compared(bounds.low, isOpen(low) ? '>' : '>=') };
	if (bounds?.high) return { element: 'valueQuantity', value: compared(bounds.high, isOpen(high) ? '<' : '<=') };
	const middle = measured(element.first('center'), reading) ?? measured(element, reading);
	return middle && { element: 'valueQuantity', value: middle };
}

function compared({ value, ...rest }: Quantity, comparator: string): Quantity {
	return { ...(value === undefined ? {} : { value }), comparator, ...rest };
}

function isOpen(bound: XmlElement | undefined): boolean {
	return bound?.attribute('inclusive') === 'false';
}

/** The bounds of IVL<PQ>; undefined without one, and flagged where they are the wrong way round. */
export function rangeOf(element: XmlElement, reading: Reading): Range | undefined {
	const { low, high } = derived(element, measured(element.first('low'), reading), measured(element.first('high'), reading), reading);
	if (low === undefined && high === undefined) return undefined;
	if (low?.value !== undefined && high?.value !== undefined && isAlike(low, high) && isGreater(low.value, high.value)) {
		reading.context.unreadable(element, 'ends below its beginning and was left out');
		return undefined;
	}
	return { ...(low ? { low } : {}), ...(high ? { high } : {}) };
}

/** Two of low, high, center and width give the others (Data Types R1 §2.34, IVL); a width that gives none is noted. */
function derived(element: XmlElement, low: Quantity | undefined, high: Quantity | undefined, reading: Reading): Range {
	const stated = { ...(low ? { low } : {}), ...(high ? { high } : {}) };
	const width = element.first('width');
	const wide = low && high ? undefined : measured(width, reading);
	if (width === undefined || wide?.value === undefined) return stated;
	const center = low || high ? undefined : measured(element.first('center'), reading);
	const [from, reach] = center ? [center, half(wide.value)] : [low ?? high, wide.value];
	const isWidth = from !== undefined && isAlike(from, wide) && !isGreater(0, wide.value);
	const lower = isWidth ? (low ?? moved(from, reach, -1)) : undefined;
	const upper = isWidth ? (high ?? moved(from, reach, 1)) : undefined;
	if (lower !== undefined && upper !== undefined) return { low: lower, high: upper };
	reading.context.unreadable(width, 'gives no bound with what stands beside it and was left out');
	return stated;
}

function moved(quantity: Quantity, by: Json | undefined, sign: 1 | -1): Quantity | undefined {
	const value = by === undefined || quantity.value === undefined ? undefined : sum(quantity.value, by, sign);
	return value === undefined ? undefined : { ...quantity, value };
}

/** Tells whether two quantities are in one unit; none is that of a pure number (`1`). */
function isAlike(one: Quantity, other: Quantity): boolean {
	const unitOf = ({ code, unit: name }: Quantity) => code ?? name ?? '1';
	return unitOf(one) === unitOf(other);
}

/** NullFlavor as DataAbsentReason (C-CDA on FHIR, CF-NullFlavorDataAbsentReason). */
const absentReasons: Readonly<Record<string, string>> = {
	NI: 'unknown',
	UNK: 'unknown',
	ASKU: 'asked-unknown',
	NAV: 'temp-unknown',
	NASK: 'not-asked',
	NA: 'not-applicable',
	MSK: 'masked',
	OTH: 'unsupported',
	TRC: 'unsupported',
	NINF: 'negative-infinity',
	PINF: 'positive-infinity',
	NP: 'unknown',
};
const absentReasonSystem = 'http://terminology.hl7.org/CodeSystem/data-absent-reason';

export function absentReason(nullFlavor: string): JsonObject {
	return { coding: [{ system: absentReasonSystem, code: entryOf(absentReasons, nullFlavor) ?? 'unknown' }] };
}
