import type { Json, JsonObject } from '#core/json.ts';
import type { ResourcePatch } from '../resource-patch.ts';

/** Tells to which part of a list an item belongs; the counterpart of `ResourcePatch.parts`. */
const partOf: Readonly<Record<string, (item: JsonObject) => string>> = {
	telecom: telecomPart,
	extension: (item) => String(item['url'] ?? ''),
	participant: (item) => firstCode(item['type']),
	identifier: identifierPart,
	contact: fieldPart,
	generalPractitioner: fieldPart,
	performer: (item) => codingCode(item['function']),
};

/** Returns the segment or field that the element id names (`NK1.2`, `PD1-4.1`); '' when the item did not come from HL7 v2. */
function fieldPart(item: JsonObject): string {
	const id = item['id'];
	return typeof id === 'string' ? (/^([A-Z][A-Z0-9]{2}(?:-\d+)?)\.\d+$/.exec(id)?.[1] ?? '') : '';
}

/** The element id names the field where the item's use or type would not: `PID-13.2`. */
function namesField(item: JsonObject, field: string): boolean {
	const id = item['id'];
	return typeof id === 'string' && id.startsWith(field) && id[field.length] === '.';
}

function telecomPart(item: JsonObject): string {
	if (namesField(item, 'PID-13')) return 'home';
	return item['use'] === 'work' || namesField(item, 'PID-14') ? 'work' : 'home';
}

export const ssnSystem = 'http://hl7.org/fhir/sid/us-ssn';

/** `old` identifiers came with a merge and survive every snapshot. */
export function identifierPart(item: JsonObject): string {
	if (item['use'] === 'old') return 'old';
	if (namesField(item, 'PID-3')) return 'PID-3';
	if (item['system'] === ssnSystem) return 'SS';
	const type = codingCode(item['type']);
	return type === 'AN' || type === 'DL' ? type : 'PID-3';
}

function firstCode(concepts: Json | undefined): string {
	return Array.isArray(concepts) ? codingCode(concepts[0]) : '';
}

/** Returns the code of the first coding; '' without one. */
export function codingCode(concept: Json | undefined): string {
	if (concept === null || typeof concept !== 'object' || Array.isArray(concept)) return '';
	const coding = concept['coding'];
	if (!Array.isArray(coding)) return '';
	const first = coding[0];
	return first !== null && typeof first === 'object' && !Array.isArray(first) ? String(first['code'] ?? '') : '';
}

/**
 * Applies a patch to a resource in place. An absent element stays, null removes it, a value replaces it. In a list with parts only the
 * named
 * parts change, and the part `all` replaces the whole list.
 */
export function applyPatch(resource: JsonObject, patch: ResourcePatch): void {
	for (const path in patch.elements) setElement(resource, path, patch.elements[path] as Json);
	for (const element in patch.parts) setParts(resource, element, patch.parts[element] as Record<string, JsonObject[] | null>);
	for (const [precise, bare] of choices) if (resource[precise] !== undefined && resource[bare] === true) delete resource[bare];
}

/** A choice element may have only one form (FHIR R4 §2.24.0.3): PID-30 `Y` adds nothing to a known PID-29. */
const choices = [
	['deceasedDateTime', 'deceasedBoolean'],
	['multipleBirthInteger', 'multipleBirthBoolean'],
] as const;

function setElement(resource: JsonObject, path: string, value: Json): void {
	const dot = path.indexOf('.');
	if (dot < 0) {
		if (value === null) delete resource[path];
		else resource[path] = value;
		return;
	}
	const parent = path.slice(0, dot);
	const held = resource[parent];
	const object: JsonObject = held !== null && typeof held === 'object' && !Array.isArray(held) ? held : {};
	setElement(object, path.slice(dot + 1), value);
	if (Object.keys(object).length === 0) delete resource[parent];
	else resource[parent] = object;
}

function setParts(resource: JsonObject, element: string, parts: Record<string, JsonObject[] | null>): void {
	const partition = partOf[element];
	if (partition === undefined) throw new Error(`no parts are defined for ${element}`);
	const held = Array.isArray(resource[element]) ? (resource[element] as JsonObject[]) : [];
	const all = parts['all'];
	const kept =
		all === undefined ? held.filter((item) => parts[partition(item)] === undefined) : held.filter((item) => partition(item) === 'old');
	const list: JsonObject[] = [];
	// A spread of the whole part would need a place on the stack for each of its items.
	for (const part in parts) for (const item of parts[part] ?? []) list.push(item);
	if (kept.length > 0) {
		const told = new Set(list.map(identityOf));
		for (const item of kept) {
			const identity = identityOf(item);
			if (identity === undefined || !told.has(identity)) list.push(item);
		}
	}
	if (list.length === 0) delete resource[element];
	else resource[element] = list;
}

/**
 * Returns the key of an identifier, so that one that stands in two parts (PID-3 and PID-19, say) is kept once; undefined without a value.
 */
function identityOf({ value, system, use }: JsonObject): string | undefined {
	return value === undefined ? undefined : JSON.stringify([value, system ?? null, use ?? null]);
}
