import type { Json } from '#core/json.ts';
import type { Segment } from '../message.ts';
import type { Context } from './context.ts';

/** The types that onset[x] of Condition and AllergyIntolerance, and performed[x] of Procedure, may have. */
const types = ['DateTime', 'Age', 'Period', 'Range', 'String'] as const;

/** Sets a choice element, which has one type (FHIR R4 §2.24.0.3): a value of another type is removed. Null removes it whatever its type. */
export function setChoice(elements: Record<string, Json>, name: string, type: (typeof types)[number], value: Json): void {
	for (const other of types) elements[`${name}${other}`] = null;
	for (const primitive of ['DateTime', 'String']) elements[`_${name}${primitive}`] = null;
	elements[`${name}${type}`] = value;
}

/** Snapshot of a choice element from a field that holds a time. */
export function replaceTime(elements: Record<string, Json>, name: string, segment: Segment, field: number, context: Context): void {
	if (!segment.isPresent(field)) return;
	const value = segment.isNull(field) ? null : context.time(segment, field);
	if (value !== undefined) setChoice(elements, name, 'DateTime', value);
}
