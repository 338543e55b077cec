import { isRawJson, type Json, type JsonObject } from '#core/json.ts';
import type { Node } from './compile.ts';

/** One value of an element. */
export interface Item {
	/** Undefined where a primitive has extensions only. */
	value: Json | undefined;
	/** The id and extensions of a primitive: `_birthDate`. */
	sibling: JsonObject | undefined;
	/** The FHIRPath of the value. */
	path: string;
	/** The type that the name of a choice ends with, in the spelling of R4: `Quantity`, `dateTime`. */
	type: string | undefined;
}

export function isObject(value: Json | undefined): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
}

/** Returns the members of a value: those of an object, or the extensions of a primitive. */
export function membersOf({ value, sibling }: Item): JsonObject | undefined {
	return isObject(value) ? value : sibling;
}

/** Returns the values of an element in its parent, whose path is `path`. */
export function itemsIn(parent: JsonObject, { name, isChoice }: Pick<Node, 'name' | 'isChoice'>, path: string): Item[] {
	const own = `${path}.${name}`;
	if (!isChoice) return itemsOf(parent[name], parent[`_${name}`], own, undefined);
	const found: Item[] = [];
	const types = new Set<string>();
	for (const member in parent) {
		const plain = member.startsWith('_') ? member.slice(1) : member;
		const end = plain.slice(name.length);
		if (!plain.startsWith(name) || !/^[A-Z]/.test(end) || types.has(end)) continue;
		types.add(end);
		found.push(...itemsOf(parent[plain], parent[`_${plain}`], own, end));
	}
	return found;
}

function itemsOf(value: Json | undefined, sibling: Json | undefined, path: string, type: string | undefined): Item[] {
	if (!Array.isArray(value) && !Array.isArray(sibling)) {
		if (value === undefined && sibling === undefined) return [];
		return [{ value: value ?? undefined, sibling: isObject(sibling) ? sibling : undefined, path, type }];
	}
	const [values, siblings] = [Array.isArray(value) ? value : [], Array.isArray(sibling) ? sibling : []];
	return Array.from({ length: Math.max(values.length, siblings.length) }, (_, at): Item => {
		const beside = siblings[at];
		return { value: values[at] ?? undefined, sibling: isObject(beside) ? beside : undefined, path: `${path}[${at}]`, type };
	});
}

/** Compares a type of R4 with the end of a choice's name: `dateTime` and `DateTime`. */
export function isOfType(code: string, end: string): boolean {
	return code === end || code.charAt(0).toUpperCase() + code.slice(1) === end;
}
