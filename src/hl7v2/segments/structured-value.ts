import type { Json } from '#core/json.ts';
import type { SampledData } from '#fhir/datatypes.ts';
import { decimal } from '#fhir/mapping/decimal.ts';
import type { Segment } from '../message.ts';
import { quantity, range, type Unit, type Value } from './quantity.ts';
import { withUnit } from './stated-number.ts';

/** SN comparators that FHIR has; `=` is no comparator and `<>` has no counterpart. */
const comparators: ReadonlySet<string> = new Set(['<', '<=', '>=', '>']);

/**
 * Converts SN (v2.5.1 §2.A.70) in its five forms: `>^100` comparator, `^100^-^200` range, `^1^:^128` and `^1^/^2` ratio, `^2^+` as text.
 * Any other form
 * is undefined.
 */
export function structuredNumeric(obx: Segment, repetition: number, unit: Unit): Value | undefined {
	const comparator = obx.text(5, 1, repetition).trim();
	const separator = obx.text(5, 3, repetition).trim();
	const first = decimal(obx.text(5, 2, repetition));
	const second = decimal(obx.text(5, 4, repetition));
	if (first === undefined) return undefined;
	const known = comparator === '' || comparator === '=' || comparators.has(comparator);
	const compared = quantity(first, unit, comparators.has(comparator) ? comparator : undefined);
	if (!known) return undefined;
	switch (separator) {
		case '':
			return second === undefined ? { element: 'valueQuantity', value: compared } : undefined;
		case '-':
			return second === undefined || comparators.has(comparator) ? undefined : between(first, second, unit);
		case ':':
		case '/':
			return second === undefined
				? undefined
				: { element: 'valueRatio', value: { numerator: compared, denominator: quantity(second, unit) } };
		case '+':
			return {
				element: 'valueString',
				value: withUnit(`${comparator}${obx.text(5, 2, repetition).trim()}+${obx.text(5, 4, repetition).trim()}`, unit),
			};
		default:
			return undefined;
	}
}

function between(low: Json, high: Json, unit: Unit): Value | undefined {
	const value = range(low, high, unit);
	return value && { element: 'valueRange', value };
}

const absentReason = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason';

/**
 * Converts NA (v2.5.1 §2.A.46): a repetition is one row, the samples of one moment. v2 does not state their interval, so the period is
 * marked as
 * unknown. Missing samples are `E` (FHIR R4 §2.24.0.12).
 */
export function sampledData(obx: Segment, _repetition: number, unit: Unit): Value | undefined {
	const rows = obx.repetitions(5);
	const columns = obx.components(5, 0);
	const samples: string[] = [];
	for (let row = 0; row < rows; row++) {
		for (let column = 1; column <= columns; column++) {
			const text = obx.text(5, column, row).trim();
			if (text !== '' && decimal(text) === undefined) return undefined;
			samples.push(text === '' ? 'E' : text);
		}
		if (obx.components(5, row) > columns) return undefined;
	}
	const data: SampledData = {
		origin: quantity(0, unit),
		_period: { extension: [{ url: absentReason, valueCode: 'unknown' }] },
		dimensions: rows === 1 ? 1 : columns,
		data: samples.join(' '),
	};
	return { element: 'valueSampledData', value: data };
}
