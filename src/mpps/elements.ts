import { isRawJson, type Json, type JsonObject } from '#core/json.ts';
import { textOf } from '#dicom/values.ts';

/** Reads data elements of the DICOM JSON Model (PS3.18 F.2) out of a JSON object that may hold anything. */

export function isObject(value: unknown): value is JsonObject {
	return value !== null && typeof value === 'object' && !Array.isArray(value) && !isRawJson(value);
}

/**
 * The values of an element: none where it is empty, undefined where the object has no such element or something else under
 * its tag. `tag` is eight hexadecimal digits, capital letters.
 */
export function valuesOf(attributes: JsonObject, tag: string): readonly Json[] | undefined {
	const element = attributes[tag] ?? attributes[tag.toLowerCase()];
	if (!isObject(element) || typeof element['vr'] !== 'string') return undefined;
	const values = element['Value'];
	if (values === undefined) return [];
	return Array.isArray(values) ? values : undefined;
}

/** The first value as text without padding; undefined when the element is absent, empty or no text. */
export function textAt(attributes: JsonObject, tag: string): string | undefined {
	const first = valuesOf(attributes, tag)?.[0];
	if (typeof first === 'string') return textOf(first);
	if (typeof first === 'number') return String(first);
	return undefined;
}

/** PN: the alphabetic group, else the ideographic, else the phonetic (PS3.18 F.2.2); also a bare string. */
export function nameAt(attributes: JsonObject, tag: string): string | undefined {
	const first = valuesOf(attributes, tag)?.[0];
	if (!isObject(first)) return textAt(attributes, tag);
	for (const group of ['Alphabetic', 'Ideographic', 'Phonetic']) {
		const text = first[group];
		const name = typeof text === 'string' ? textOf(text) : undefined;
		if (name !== undefined) return name;
	}
	return undefined;
}

export function itemsAt(attributes: JsonObject, tag: string): JsonObject[] {
	return (valuesOf(attributes, tag) ?? []).filter(isObject);
}
