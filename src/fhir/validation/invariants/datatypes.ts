import { endsBeforeStart } from '#core/date-range.ts';
import type { Json, JsonObject } from '#core/json.ts';
import { isExactNumber, isObject } from '../fault.ts';
import { referenceRule } from '../reference.ts';
import { has, hasChoice, type Invariant, invariant, items } from './invariant.ts';

const ucum = 'http://unitsofmeasure.org';

/** Converts a decimal to a JavaScript number for comparisons; undefined when it is none. */
function numberOf(value: Json | undefined): number | undefined {
	if (typeof value === 'number') return value;
	return isExactNumber(value) ? Number(value.rawJSON) : undefined;
}

const hasUcumOrNone = ({ system }: JsonObject): boolean => system === undefined || system === ucum;
const hasCodeWithValue = (quantity: JsonObject): boolean => has(quantity, 'code') || !has(quantity, 'value');

const unitHasSystem = invariant(
	'qty-3',
	'A code of a unit has its system',
	(quantity) => !has(quantity, 'code') || has(quantity, 'system'),
);

function isPositive({ value }: JsonObject): boolean {
	const number = numberOf(value);
	return number === undefined || number > 0;
}

function isWhole({ value }: JsonObject): boolean {
	return !isExactNumber(value) || !value.rawJSON.includes('.');
}

/** per-1. */
function inOrder({ start, end }: JsonObject): boolean {
	return typeof start !== 'string' || typeof end !== 'string' || !endsBeforeStart(start, end);
}

/** rng-2, where both are of one unit. */
function lowIsLower({ low, high }: JsonObject): boolean {
	if (!isObject(low) || !isObject(high)) return true;
	const [from, to] = [numberOf(low['value']), numberOf(high['value'])];
	const sameUnit = ['unit', 'system', 'code'].every((name) => low[name] === high[name]);
	return from === undefined || to === undefined || !sameUnit || from <= to;
}

/** R4 §2.24.0.8: decimals and the letters E, L and U between single spaces. */
function isSampled({ data }: JsonObject): boolean {
	if (typeof data !== 'string') return true;
	const token = /(?:[ELU]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?: |$)/y;
	while (token.lastIndex < data.length) if (!token.test(data)) return false;
	return !data.endsWith(' ');
}

const notNegative = (name: string) => (repeat: JsonObject) => (numberOf(repeat[name]) ?? 0) >= 0;
const together = (name: string, other: string) => (element: JsonObject) => !has(element, name) || has(element, other);
const aroundMeals = new Set<Json>(['C', 'CM', 'CD', 'CV']);

const timing: Invariant[] = [
	invariant('tim-1', 'A duration has its unit', together('duration', 'durationUnit')),
	invariant('tim-2', 'A period has its unit', together('period', 'periodUnit')),
	invariant('tim-4', 'A duration is not negative', notNegative('duration'), 'duration'),
	invariant('tim-5', 'A period is not negative', notNegative('period'), 'period'),
	invariant('tim-6', 'A periodMax comes with a period', together('periodMax', 'period')),
	invariant('tim-7', 'A durationMax comes with a duration', together('durationMax', 'duration')),
	invariant('tim-8', 'A countMax comes with a count', together('countMax', 'count')),
	invariant(
		'tim-9',
		'An offset comes with a when other than C, CM, CD and CV',
		(repeat) => !has(repeat, 'offset') || (has(repeat, 'when') && !items(repeat['when']).some((code) => aroundMeals.has(code))),
	),
	invariant('tim-10', 'Either timeOfDay or when is given', (repeat) => !has(repeat, 'timeOfDay') || !has(repeat, 'when')),
];

const trigger: Invariant[] = [
	invariant('trd-1', 'Either timing or data is given', (element) => !has(element, 'data') || !hasChoice(element, 'timing')),
	invariant('trd-2', 'A condition comes with data', together('condition', 'data')),
	invariant('trd-3', 'A named event has a name, a periodic one a timing, one of data its data', ({ type, ...element }) => {
		if (type === 'named-event') return has(element, 'name');
		if (type === 'periodic') return hasChoice(element, 'timing');
		return typeof type !== 'string' || !type.startsWith('data-') || has(element, 'data');
	}),
];

const eitherPath = (key: string) =>
	invariant(key, 'Either path or searchParam is given', (filter) => has(filter, 'path') !== has(filter, 'searchParam'));

export const datatypeInvariants: Readonly<Record<string, readonly Invariant[]>> = {
	Extension: [
		invariant(
			'ext-1',
			'An extension has either a value or extensions',
			(extension) => has(extension, 'extension') !== hasChoice(extension, 'value'),
		),
	],
	Attachment: [invariant('att-1', 'Data has its contentType', together('data', 'contentType'))],
	ContactPoint: [invariant('cpt-2', 'A value has its system', together('value', 'system'))],
	Period: [invariant('per-1', 'A period does not end before it starts', inOrder)],
	Quantity: [unitHasSystem],
	SimpleQuantity: [unitHasSystem],
	Age: [
		unitHasSystem,
		invariant(
			'age-1',
			'An age is positive and has a code of UCUM',
			(age) => hasCodeWithValue(age) && hasUcumOrNone(age) && isPositive(age),
		),
	],
	Count: [
		unitHasSystem,
		invariant('cnt-3', 'A count is a whole number and has the code 1 of UCUM', (count) => {
			const isOne = count['code'] === undefined || count['code'] === '1';
			return hasCodeWithValue(count) && hasUcumOrNone(count) && isOne && isWhole(count);
		}),
	],
	Distance: [
		unitHasSystem,
		invariant('dis-1', 'A distance has a code of UCUM', (distance) => hasCodeWithValue(distance) && hasUcumOrNone(distance)),
	],
	Duration: [
		unitHasSystem,
		invariant('drt-1', 'A duration with a code has a value and the system of UCUM', (duration) => {
			return !has(duration, 'code') || (duration['system'] === ucum && has(duration, 'value'));
		}),
	],
	Range: [invariant('rng-2', 'low is not above high', lowIsLower)],
	Ratio: [
		invariant('rat-1', 'Numerator and denominator are both given, or an extension in their place', (ratio) => {
			return has(ratio, 'numerator') === has(ratio, 'denominator') && (has(ratio, 'numerator') || has(ratio, 'extension'));
		}),
	],
	Reference: [{ key: 'ref-1', rule: referenceRule }],
	SampledData: [invariant('SampledData.data', 'The data are decimals, E, L or U between single spaces', isSampled, 'data')],
	'Timing.repeat': timing,
	'DataRequirement.codeFilter': [eitherPath('drq-1')],
	'DataRequirement.dateFilter': [eitherPath('drq-2')],
	Expression: [invariant('exp-1', 'An expression or a reference is given', (it) => has(it, 'expression') || has(it, 'reference'))],
	TriggerDefinition: trigger,
};
