import { type Json, type JsonObject, parseExact } from '#core/json.ts';
import type { Extent } from '#record/search-plan.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import { asObject, asObjects } from './elements.ts';
import type { ResourceDefinition } from './resource.ts';

/** The part of a resource that an answer shows (FHIR R4 §3.1.1.5.8 and §3.1.1.5.9). */
export type Shape = { kind: 'true' | 'text' | 'data' } | { kind: 'elements'; elements: readonly string[] };

const subsetted = {
	system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
	code: 'SUBSETTED',
	display: 'subsetted',
};

/** Reduces the resource to the parts that the shape shows and marks it as such; mandatory elements stay. */
export function shaped(definition: ResourceDefinition, stored: StoredResource, shape: Shape): StoredResource {
	const kept = shownOf(definition, parseExact(stored.text), shape);
	const meta: JsonObject = stored.meta === null ? {} : (asObject(parseExact(stored.meta)) ?? {});
	return { ...stored, text: JSON.stringify(kept), meta: JSON.stringify(marked(meta)) };
}

/** Does the same to the text of a whole resource, with its id and meta. */
export function shapedText(definition: ResourceDefinition, text: string, shape: Shape): string {
	const { resourceType = definition.type, id = '', meta, ...resource } = parseExact(text);
	return JSON.stringify({ resourceType, id, meta: marked(asObject(meta) ?? {}), ...shownOf(definition, resource, shape) });
}

function shownOf(definition: ResourceDefinition, resource: JsonObject, shape: Shape): JsonObject {
	const kept: JsonObject = {};
	for (const name in resource) {
		const value = resource[name];
		// The sibling of a primitive stays or goes with it.
		if (value !== undefined && isShown(definition, name.replace(/^_/, ''), shape)) kept[name] = shownPart(definition, name, value, shape);
	}
	return kept;
}

function marked(meta: JsonObject): JsonObject {
	const tags = Array.isArray(meta['tag']) ? meta['tag'] : [];
	return { ...meta, tag: [...tags, subsetted] };
}

/** Returns how much of a resource must be rendered for the shape. */
export function extentOf(shape: Shape | undefined): Extent {
	if (shape === undefined || shape.kind === 'data') return 'whole';
	if (shape.kind === 'elements') return shape.elements.includes('series') ? 'whole' : 'head';
	return shape.kind === 'true' ? 'outline' : 'head';
}

/** Returns the value without the members that the summary leaves out. */
function shownPart({ beyondSummary }: ResourceDefinition, name: string, value: Json, shape: Shape): Json {
	const left = shape.kind === 'true' ? beyondSummary?.[name] : undefined;
	if (left === undefined || !Array.isArray(value)) return value;
	return asObjects(value).map((item) => Object.fromEntries(Object.entries(item).filter(([member]) => !left.includes(member))));
}

function isShown({ summary, mandatory }: ResourceDefinition, element: string, shape: Shape): boolean {
	if (mandatory.includes(element)) return true;
	switch (shape.kind) {
		case 'true':
			return summary.includes(element);
		case 'text':
			return element === 'text';
		case 'data':
			return element !== 'text';
		case 'elements':
			return shape.elements.some((name) => element === name || isChoice(element, name));
	}
}

/** Tells whether the element is a choice with this name: `value` also means `valueQuantity`. */
function isChoice(element: string, name: string): boolean {
	return (
		element.startsWith(name) &&
		/^[A-Z]/.test(element.slice(name.length)) &&
		['value', 'effective', 'onset', 'abatement', 'performed', 'deceased', 'multipleBirth'].includes(name)
	);
}
