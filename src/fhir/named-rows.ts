import type { Json, JsonObject } from '#core/json.ts';
import type { ElementInclusion } from '#record/search-plan.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import { asObject, asText } from './elements.ts';
import { referencedRow } from './links.ts';

/** A parameter may lead to many types, and each is looked for in the same resources. */
const parsed = new WeakMap<StoredResource, JsonObject>();

function contentOf(stored: StoredResource): JsonObject {
	let content = parsed.get(stored);
	if (content === undefined) {
		content = JSON.parse(stored.text) as JsonObject;
		parsed.set(stored, content);
	}
	return content;
}

/** Returns the row ids to which resources refer by an element. */
export function namedRows(resources: readonly StoredResource[], { path, includedType }: ElementInclusion): string[] {
	const ids = new Set<string>();
	for (const stored of resources) {
		for (const reference of valuesAt(contentOf(stored), path)) {
			const rowId = referencedRow(reference, includedType);
			if (rowId !== null) ids.add(rowId);
		}
	}
	return [...ids];
}

/** Returns the row ids to which resources refer by any element, by type. */
export function namedByType(resources: readonly StoredResource[]): Map<string, Set<string>> {
	const named = new Map<string, Set<string>>();
	const note = (value: JsonObject) => {
		const [type = ''] = asText(value['reference'])?.split('/') ?? [];
		const rowId = type === '' ? null : referencedRow(value, type);
		if (rowId === null) return;
		const ids = named.get(type);
		if (ids === undefined) named.set(type, new Set([rowId]));
		else ids.add(rowId);
	};
	const walk = (value: Json | undefined) => {
		if (typeof value !== 'object' || value === null) return;
		if (!Array.isArray(value)) note(value);
		for (const item of Object.values(value)) walk(item);
	};
	for (const stored of resources) walk(contentOf(stored));
	return named;
}

/** Returns the values at the end of a path, walking through lists on the way. */
function valuesAt(value: Json | undefined, path: readonly string[]): Json[] {
	if (value === undefined) return [];
	if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
	const [name, ...rest] = path;
	return name === undefined ? [value] : valuesAt(asObject(value)?.[name], rest);
}
