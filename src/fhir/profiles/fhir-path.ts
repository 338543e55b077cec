import { evalFhirPathTyped, type TypedValue, toTypedValue } from '@medplum/core';
import type { Json, JsonObject } from '#core/json.ts';
import { isRawJson } from '#core/json.ts';
import type { Invariant } from './profile.ts';

/** The outcome of a rule: it holds, it does not, it said neither, or it could not be evaluated here. */
export type Verdict = 'holds' | 'fails' | 'neither' | 'unknown';

/** Evaluates the rules of one resource. */
export class Invariants {
	readonly #resource: TypedValue;

	constructor(resource: JsonObject) {
		this.#resource = toTypedValue(plain(resource));
	}

	/** `type` is that of a choice or a primitive, where it is known. */
	evaluate({ expression }: Invariant, value: Json, type: string | undefined): Verdict {
		const given: unknown = plain(value);
		const input = type === undefined ? toTypedValue(given) : { type: typeNameOf(type), value: given };
		const variables = { '%resource': this.#resource, '%rootResource': this.#resource, '%context': input };
		try {
			const results = evalFhirPathTyped(expression, [input], variables);
			if (results.length === 0) return 'neither';
			return results.every((result) => result.value === true)
				? 'holds'
				: results.some((result) => result.value === false)
					? 'fails'
					: 'holds';
		} catch {
			// The expression uses a function that the engine does not have, or the resource has a shape that it does not expect.
			return 'unknown';
		}
	}
}

const primitives: ReadonlyMap<string, string> = new Map(
	'base64Binary boolean canonical code date dateTime decimal id instant integer markdown oid positiveInt string time unsignedInt uri url uuid'
		.split(' ')
		.map((name) => [name.toLowerCase(), name]),
);

/** A choice's name ends with `DateTime`, and the type is `dateTime`. */
function typeNameOf(end: string): string {
	return primitives.get(end.toLowerCase()) ?? end;
}

/** The engine knows numbers, not numbers that keep their digits. */
function plain(value: Json): unknown {
	if (Array.isArray(value)) return value.map(plain);
	if (value === null || typeof value !== 'object') return value;
	if (isRawJson(value)) return Number((value as unknown as { rawJSON: string }).rawJSON);
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}
