import { referenceName } from '../person-or-place.ts';
import { type Row, referenceTo } from './rows.ts';

/**
 * Returns the value with references that lead to the people and places of its message. What has no such reference is returned as it is, and
 * nothing of the value is changed.
 */
export function referring<T>(value: T, people: ReadonlyMap<string, Row>): T {
	return led(value, people) as T;
}

function led(value: unknown, people: ReadonlyMap<string, Row>): unknown {
	if (Array.isArray(value)) {
		let list: unknown[] | undefined;
		for (const [index, item] of value.entries()) {
			const next = led(item, people);
			if (next === item) continue;
			list ??= [...value];
			list[index] = next;
		}
		return list ?? value;
	}
	if (!isPlain(value)) return value;
	const name = referenceName(value as never);
	const row = name === undefined ? undefined : people.get(name);
	if (row !== undefined) return { reference: referenceTo(row), ...value };
	let object: Record<string, unknown> | undefined;
	for (const member in value) {
		const next = led(value[member], people);
		if (next === value[member]) continue;
		object ??= { ...value };
		object[member] = next;
	}
	return object ?? value;
}

/** Bytes, and numbers that keep their digits, are no plain objects. */
function isPlain(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
