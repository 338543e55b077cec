import { Failure } from '#core/failure.ts';
import { isRawJson, type Json, type JsonObject } from '#core/json.ts';
import type { PatientReference } from '#record/kinds/resource.ts';
import { referencedRow } from '../links.ts';

/** Yields every literal reference of a resource, contained ones included, with its FHIRPath. */
function* referencesIn(value: Json, path: string): Generator<{ holder: JsonObject; text: string; expression: string }> {
	if (Array.isArray(value)) {
		for (const [index, item] of value.entries()) yield* referencesIn(item, `${path}[${index}]`);
		return;
	}
	if (value === null || typeof value !== 'object' || isRawJson(value)) return;
	const text = value['reference'];
	if (typeof text === 'string') yield { holder: value, text, expression: `${path}.reference` };
	for (const name in value) {
		const member = value[name];
		if (member !== null && typeof member === 'object') yield* referencesIn(member, `${path}.${name}`);
	}
}

/** Returns the references of a resource to patients. Each must be a patient of the site. */
export function patientReferences(type: string, resource: JsonObject): PatientReference[] {
	const found: PatientReference[] = [];
	for (const { holder, text, expression } of referencesIn(resource, type)) {
		const rowId = referencedRow(holder, 'Patient');
		if (rowId !== null) found.push({ rowId, text, expression });
	}
	return found;
}

function isConditional(text: string): boolean {
	return /^[A-Z][A-Za-z]+\?/.test(text);
}

/** Returns the distinct references by search, as they are written. */
export function conditionalReferences(type: string, resource: JsonObject): string[] {
	const texts = new Set<string>();
	for (const { text } of referencesIn(resource, type)) if (isConditional(text)) texts.add(text);
	return [...texts];
}

/**
 * Replaces the full URLs by which the entries of a transaction refer to one another by ids (FHIR R4 §3.1.0.11.2). The resource is changed
 * in
 * place.
 * @throws Failure for a conditional reference, and, if references are checked, for a `urn:` that no entry has
 */
export function resolveReferences(type: string, resource: JsonObject, resolved: ReadonlyMap<string, string>, checked: boolean): void {
	for (const { holder, text, expression } of referencesIn(resource, type)) {
		const found = resolved.get(text);
		if (found !== undefined) holder['reference'] = found;
		else if (checked && /^urn:(?:uuid|oid):/.test(text)) {
			throw new Failure('unknown-key', 'the reference matches no resource of this site', { location: { expression } });
		} else if (isConditional(text)) {
			throw new Failure('not-supported', 'conditional references are resolved in transactions only', { location: { expression } });
		}
	}
}
