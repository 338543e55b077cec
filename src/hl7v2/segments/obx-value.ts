import type { Json, JsonObject } from '#core/json.ts';
import type { Extension } from '#fhir/datatypes.ts';
import { codingSystem } from '#fhir/mapping/coding-system.ts';
import { decimal } from '#fhir/mapping/decimal.ts';
import { periodOf } from '#fhir/mapping/period.ts';
import { joined } from '#fhir/mapping/text.ts';
import { hasTime, toDate, toDateTime, toTime } from '#fhir/mapping/timestamp.ts';
import type { Segment } from '../message.ts';
import { encapsulatedData, referencePointer } from './attachment.ts';
import { type Context, failureAt, nameOf } from './context.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { numeric, quantity, range, type Unit, ucum, type Value } from './quantity.ts';
import { statedQuantity, withUnit } from './stated-number.ts';
import { sampledData, structuredNumeric } from './structured-value.ts';

/** Reads one repetition of OBX-5 by its type; undefined when it is not of that type. */
type Reader = (obx: Segment, repetition: number, unit: Unit, context: Context) => Value | undefined;

const element = (name: string, value: Json | undefined): Value | undefined => (value === undefined ? undefined : { element: name, value });

/** Returns a value of a type without components; undefined when more stands behind it, so that nothing of it is lost. */
function alone(obx: Segment, repetition: number): string | undefined {
	const first = obx.text(5, 1, repetition);
	const isAlone = obx.components(5, repetition) <= 1 && obx.subcomponents(5, 1, repetition) <= 1;
	return isAlone || readable(obx, repetition) === (first.trim() || undefined) ? first : undefined;
}

/** TS-2 says how precise the time is (v2.5.1 §2.A.77), as its digits do. */
function moment(obx: Segment, repetition: number): string | undefined {
	const isTs = obx.components(5, repetition) === 2 && /^[YLDHMS]$/i.test(obx.text(5, 2, repetition).trim());
	return isTs ? obx.text(5, 1, repetition) : alone(obx, repetition);
}

const numericReader: Reader = (obx, repetition, unit) => element('valueQuantity', numeric(alone(obx, repetition) ?? '', unit));
const concept: Reader = (obx, repetition) => element('valueCodeableConcept', codeableConcept(obx, 5, repetition));
const dateTime: Reader = (obx, repetition, _unit, context) =>
	element('valueDateTime', toDateTime(moment(obx, repetition) ?? '', context.zone));
/** A DT has no time. One that was sent with a time keeps it, flagged. */
const date: Reader = (obx, repetition, _unit, context) => {
	const sent = moment(obx, repetition) ?? '';
	if (!hasTime(sent)) return element('valueDateTime', toDate(sent));
	context.unreadable(obx, 5, 'has a time, which the type DT that OBX-2 names has not; read as a time');
	return element('valueDateTime', toDateTime(sent, context.zone));
};
const time: Reader = (obx, repetition) => element('valueTime', toTime(alone(obx, repetition) ?? ''));
/** Renders a composite for people when FHIR's value[x] has no type for it. */
const composite: Reader = (obx, repetition) => element('valueString', readable(obx, repetition));
const text: Reader = (obx, repetition) => element('valueString', obx.display(5, repetition) || undefined);

const compositeQuantity: Reader = (obx, repetition, unit) => {
	const value = decimal(obx.text(5, 1, repetition));
	// No unit is a number: `10^5` is a power.
	if (/^[\d.]/.test(obx.text(5, 2, repetition).trim())) return undefined;
	return value === undefined ? undefined : element('valueQuantity', quantity(value, statedUnit(obx, repetition) ?? unit));
};

/** CQ-2, a CE in subcomponents. */
function statedUnit(obx: Segment, repetition: number): Unit | undefined {
	const [code = '', name = '', system = ''] = [1, 2, 3].map((subcomponent) => obx.text(5, 2, repetition, subcomponent).trim());
	if (code === '' && name === '') return undefined;
	return { unit: name || code, ...(code !== '' && codingSystem(system) === ucum ? { system: ucum, code } : {}) };
}

const numericRange: Reader = (obx, repetition, unit) => {
	const [low, high] = [decimal(obx.text(5, 1, repetition)), decimal(obx.text(5, 2, repetition))];
	return element('valueRange', range(low, high, unit));
};

const dateRange: Reader = (obx, repetition, _unit, { zone }) => {
	const [start, end] = [toDateTime(obx.text(5, 1, repetition), zone), toDateTime(obx.text(5, 2, repetition), zone)];
	const period = periodOf(start, end);
	return period?.end === end ? element('valuePeriod', period) : undefined;
};

const sequenceId: Reader = (obx, repetition, unit) => {
	const digits = (alone(obx, repetition) ?? '').trim();
	if (unit.unit !== undefined) return element('valueQuantity', numeric(digits, unit));
	return /^\d{1,9}$/.test(digits) ? element('valueInteger', Number(digits)) : undefined;
};

const valueRange: Reader = (obx, repetition, unit) => {
	const [low, high] = [obx.text(5, 1, repetition), obx.text(5, 2, repetition)];
	return element('valueString', withUnit(high === '' ? low : `${low}-${high}`, unit));
};

/** Supported value types (table 0125 and its later additions). Any other type refuses the message. */
const readers: Readonly<Record<string, Reader>> = {
	NM: numericReader,
	SN: structuredNumeric,
	ST: text,
	TX: text,
	FT: text,
	CE: concept,
	CWE: concept,
	CNE: concept,
	CF: concept,
	IS: concept,
	ID: concept,
	DT: date,
	TM: time,
	TS: dateTime,
	DTM: dateTime,
	NA: sampledData,
	NR: numericRange,
	DR: dateRange,
	CQ: compositeQuantity,
	SI: sequenceId,
	VR: valueRange,
	ED: (obx, repetition, _unit, context) => attachment(encapsulatedData(obx, repetition, context)),
	RP: (obx, repetition) => attachment(referencePointer(obx, repetition)),
	...Object.fromEntries(
		['AD', 'CK', 'CN', 'CP', 'CX', 'EI', 'HD', 'MO', 'PN', 'PPN', 'TN', 'XAD', 'XCN', 'XON', 'XPN', 'XTN'].map((type) => [type, composite]),
	),
};

function attachment(extension: Extension | undefined): Value | undefined {
	return extension && { extension };
}

function readable(obx: Segment, repetition: number): string | undefined {
	const parts: string[] = [];
	const components = obx.components(5, repetition);
	for (let component = 1; component <= components; component++) {
		const subcomponents = obx.subcomponents(5, component, repetition);
		for (let sub = 1; sub <= subcomponents; sub++) parts.push(obx.text(5, component, repetition, sub).trim());
	}
	return joined(...parts) || undefined;
}

const textTypes: ReadonlySet<string> = new Set(['ST', 'TX', 'FT']);
const numericTypes: ReadonlySet<string> = new Set(['NM', 'SN']);
/** Types of one number, in which a further number behind a delimiter is a power. */
const numberTypes: ReadonlySet<string> = new Set(['NM', 'SN', 'CQ', 'SI']);
/** Types whose components beside the data or the pointer are no value. */
const attachmentTypes: ReadonlySet<string> = new Set(['ED', 'RP']);

function isText(type: string): boolean {
	return textTypes.has(type);
}

export function isNumeric(type: string): boolean {
	return numericTypes.has(type);
}

/** @throws Failure `table-value` when OBX-2 names a type that is not read: the whole message is refused */
export function checkedType(obx: Segment): string {
	const type = obx.text(2).trim().toUpperCase();
	if (type === '' || Object.hasOwn(readers, type)) return type;
	const named = /^[A-Z][A-Z0-9]{1,2}$/.test(type) ? ` "${type}"` : '';
	throw failureAt('table-value', obx, 2, `OBX-2 names the value type${named}, which is not supported (${nameOf(obx)})`);
}

/** Returns the value elements of an Observation from OBX-5: none, a value, or components for repetitions. */
export function observedValue(obx: Segment, type: string, unit: Unit, context: Context): JsonObject {
	if (!hasValue(obx)) return {};
	if (type === '') {
		context.flag('empty-value-type', `${nameOf(obx)}-5 has a value and OBX-2 no type; read as text`);
		return textValue(joinedText(obx), type, unit);
	}
	if (isText(type)) return textValue(joinedText(obx), type, unit);
	const repetitions = type === 'NA' ? 1 : obx.repetitions(5);
	const values: Value[] = [];
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const value = repetitionValue(obx, repetition, type, unit, context);
		if (value) values.push(value);
	}
	const [first, ...further] = values;
	if (first === undefined) return {};
	return further.length === 0 ? asElement(first) : { component: values.map(asElement) };
}

/** A number with a unit is a measurement, though the sender calls it a text. FT is for people, so it stays a text. */
function textValue(text: string, type: string, unit: Unit): JsonObject {
	if (unit.unit === undefined) return { valueString: text };
	const read = type === 'FT' ? undefined : statedQuantity(text, unit);
	return read === undefined ? { valueString: withUnit(text, unit) } : { valueQuantity: read };
}

/** Tells whether OBX-5 has content other than `""`. */
export function hasValue(obx: Segment): boolean {
	return obx.isPresent(5) && obx.display(5) !== '';
}

function repetitionValue(obx: Segment, repetition: number, type: string, unit: Unit, context: Context): Value | undefined {
	const shown = obx.display(5, repetition);
	if (shown === '') return undefined;
	const reader = readers[type];
	const value = reader?.(obx, repetition, unit, context);
	if (value !== undefined) return value;
	if (attachmentTypes.has(type) && obx.components(5, repetition) > 1) {
		context.flag(
			'unreadable-value',
			`${nameOf(obx)}-5 is of the type ${type} and has no ${type === 'ED' ? 'data (ED-5)' : 'pointer (RP-1)'}`,
		);
		return undefined;
	}
	const readableText = (numberTypes.has(type) ? asPower(obx, repetition) : undefined) ?? readable(obx, repetition);
	if (readableText === undefined) return undefined;
	const read = type === 'NM' ? statedQuantity(readableText, unit) : undefined;
	const as = read === undefined ? 'as text' : 'as a number, with the text beside it';
	context.flag('unreadable-value', `${nameOf(obx)}-5 is not of the type ${type} that OBX-2 names; read ${as}`);
	return read === undefined ? { element: 'valueString', value: withUnit(readableText, unit) } : { element: 'valueQuantity', value: read };
}

/** Returns what has digits behind a delimiter as it was sent: that is a power, such as `10^5`, and no list of parts. */
function asPower(obx: Segment, repetition: number): string | undefined {
	const shown = obx.display(5, repetition).trim();
	return /\d\s*[\^&]\s*[\d.+-]/.test(shown) ? shown : undefined;
}

function asElement(value: Value): JsonObject {
	return 'extension' in value ? { extension: [value.extension] } : { [value.element]: value.value };
}

/** Joins the repetitions of a text, which are its lines. */
export function joinedText(obx: Segment): string {
	const repetitions = obx.repetitions(5);
	if (repetitions <= 1) return obx.display(5, 0);
	const lines: string[] = [];
	for (let repetition = 0; repetition < repetitions; repetition++) lines.push(obx.display(5, repetition));
	return lines.join('\n');
}
