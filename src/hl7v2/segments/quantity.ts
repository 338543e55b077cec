import type { Json, JsonObject } from '#core/json.ts';
import type { Extension, Quantity, Range } from '#fhir/datatypes.ts';
import { decimal, isGreater } from '#fhir/mapping/decimal.ts';
import type { Segment } from '../message.ts';
import type { Context } from './context.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { comparedDecimal } from './datatypes/nm.ts';

/** `value[x]` of an Observation or of one of its components: an element and what it holds, or an extension. */
export type Value = { element: string; value: Json } | { extension: Extension };

/** OBX-6: the unit as people read it, and its code where that is UCUM's. */
export type Unit = Pick<Quantity, 'unit' | 'system' | 'code'>;

export const ucum = 'http://unitsofmeasure.org';

/** UCUM only when OBX-6.3 (or 6.6) declares it: `mmol/L` alone is a name. */
export function unitOf(obx: Segment, context: Context): Unit {
	const power = powerOf(obx);
	if (power !== undefined) {
		context.unreadable(obx, 6, 'has a power whose ^ is not escaped; it was read as a part of the unit');
		return { unit: power };
	}
	const concept = codeableConcept(obx, 6);
	if (concept === undefined) return {};
	const codings = concept.coding ?? [];
	const coding = codings.find(({ system }) => system === ucum);
	const name = concept.text ?? (coding ?? codings[0])?.code;
	const unit: Unit = {};
	if (name !== undefined) unit.unit = name;
	if (coding?.code !== undefined) {
		unit.system = ucum;
		unit.code = coding.code;
	}
	return unit;
}

/** `10^9/L`, `x10^3/uL`, `kg/m^2`: many laboratories do not escape the delimiter, and the components alone would be other units. */
function powerOf(obx: Segment): string | undefined {
	const exponent = obx.text(6, 2).trim();
	if (exponent === '' || obx.text(6, 3).trim() !== '') return undefined;
	const base = obx.text(6).trim();
	const isPowerOfTen = /(?:^|[^\d.])10$/.test(base) && /^-?\d{1,2}(?!\d)/.test(exponent);
	const isPowerOfUnit = /[a-z]$/i.test(base) && /^-?\d(?:[./*].*)?$/.test(exponent);
	return isPowerOfTen || isPowerOfUnit ? `${base}^${exponent}` : undefined;
}

export function quantity(value: Json, unit: Unit, comparator?: string): Quantity {
	return comparator === undefined ? { value, ...unit } : { value, comparator, ...unit };
}

/** Converts NM, and the `<15` that laboratories send instead. Undefined when it is neither. */
export function numeric(text: string, unit: Unit): Quantity | undefined {
	const value = decimal(text);
	if (value !== undefined) return quantity(value, unit);
	const compared = comparedDecimal(text);
	return compared && quantity(compared.value, unit, compared.comparator);
}

/** Undefined without a bound, and when the low bound is above the high one (FHIR R4 rng-2). */
export function range(low: Json | undefined, high: Json | undefined, unit: Unit): Range | undefined {
	if (low === undefined && high === undefined) return undefined;
	if (low !== undefined && high !== undefined && isGreater(low, high)) return undefined;
	const result: Range = {};
	if (low !== undefined) result.low = quantity(low, unit);
	if (high !== undefined) result.high = quantity(high, unit);
	return result;
}

const between = /^\s*([+-]?[\d.]+)\s*-\s*([+-]?[\d.]+)\s*$/;
const atMost = /^\s*<=\s*([+-]?[\d.]+)\s*$/;
const atLeast = /^\s*>=\s*([+-]?[\d.]+)\s*$/;

/** Reads OBX-7. The text is always kept. Bounds are set only if they are certain and, like FHIR's, inclusive: `3.5-5.1`, `<=5`, `>=1`. */
export function referenceRange(obx: Segment, unit: Unit, isNumeric: boolean): JsonObject[] | undefined {
	const text = obx.display(7).trim();
	if (text === '') return undefined;
	if (!isNumeric || text.length > 100) return [{ text }];
	const pair = between.exec(text);
	const low = bound(pair?.[1] ?? atLeast.exec(text)?.[1]);
	const high = bound(pair?.[2] ?? atMost.exec(text)?.[1]);
	if (pair !== null && (low === undefined || high === undefined)) return [{ text }];
	return [{ ...range(low, high, unit), text }];
}

function bound(text: string | undefined): Json | undefined {
	return text === undefined ? undefined : decimal(text);
}
