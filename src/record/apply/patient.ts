import { type Json, type JsonObject, parseExact } from '#core/json.ts';
import type { Flag, Identifier, PatientChange, ResourcePatch } from '../change-set.ts';
import { otherNumberRank, type PatientIdentifier, patientIdentifiers } from '../holdings/patient-identifiers.ts';
import type { ApplyContext } from './context.ts';
import { fieldName, identifierKey, isIndexable, matchPatient, systemOf } from './match-patient.ts';
import { applyPatch, identifierPart } from './patch.ts';
import { revise } from './revise.ts';
import { newRow, type Row, resourceOf } from './rows.ts';

/** Creates or updates the patient of a PID segment and returns its current version. */
export function applyPatient(context: ApplyContext, change: PatientChange): Row {
	const location =
		change.expression === undefined ? { segment: 'PID', sequence: change.sequence, field: 3 } : { expression: change.expression };
	const match = matchPatient(context.set, change.identifiers[0], location);
	if (match === undefined) return createPatient(context, change);
	if (change.known === 'keep') return match.current;
	const resource = resourceOf(match.current);
	const flag = overlay(resource, change.patch, fieldName(location));
	if (flag) context.flags.push(flag);
	// A message under an identifier that was merged away speaks of the survivor, but does not rename it.
	const patch = match.throughMerge ? withoutIdentifiers(change.patch) : change.patch;
	return rewritePatient(context, match.current, resource, patch, match.current.links, metaOf(match.current.meta, change));
}

function createPatient(context: ApplyContext, change: PatientChange): Row {
	const resource: JsonObject = { active: true };
	applyPatch(resource, change.patch);
	const links = { merged_into: null };
	const meta = metaOf(null, change);
	const row = newRow(context, { resourceType: 'Patient', id: context.newId(), text: JSON.stringify(resource), resource, links, meta });
	context.set.put(row);
	context.set.of(patientIdentifiers).put(row.id, [], identifiersOf(resource));
	context.changed.push(row);
	return row;
}

/** Applies a patch to a resource that was just parsed from the row. */
export function rewritePatient(
	context: ApplyContext,
	row: Row,
	resource: JsonObject,
	patch: ResourcePatch,
	links: Row['links'] = row.links,
	meta: Row['meta'] = row.meta,
): Row {
	const before = identifiersOf(resource);
	const unchanged = JSON.stringify(resource);
	applyPatch(resource, patch);
	const text = JSON.stringify(resource);
	const next = revise(context, row, text === unchanged ? row.text : text, resource, links, meta);
	if (next === row) return row;
	context.set.put(next);
	const after = identifiersOf(resource);
	if (JSON.stringify(before) !== JSON.stringify(after)) context.set.of(patientIdentifiers).put(row.id, before, after);
	return next;
}

/** Labels that the change states replace those that the meta holds; its other members stay. */
function metaOf(meta: Row['meta'], { security }: PatientChange): Row['meta'] {
	if (security === undefined) return meta;
	const held: JsonObject = meta === null ? {} : parseExact(meta);
	return JSON.stringify({ ...held, security });
}

function withoutIdentifiers(patch: ResourcePatch): ResourcePatch {
	const { identifier: _renaming, ...parts } = patch.parts;
	return { elements: patch.elements, parts };
}

/** What the identifier index holds of a Patient; the first that is not `old` is the business identifier. */
export function identifiersOf(resource: JsonObject): PatientIdentifier[] {
	const list = resource['identifier'];
	if (!Array.isArray(list)) return [];
	const found: PatientIdentifier[] = [];
	const keys = new Set<string>();
	for (const item of list as Identifier[]) {
		if (typeof item.value !== 'string' || item.value === '') continue;
		const system = systemOf(item);
		if (!isIndexable(item.value, system)) continue;
		if (list.length > 1) {
			const key = identifierKey(item);
			if (keys.has(key)) continue;
			keys.add(key);
		}
		const part = identifierPart(item);
		const rank = part === 'PID-3' || part === 'old' ? Math.min(found.length, otherNumberRank - 1) : otherNumberRank;
		found.push({ value: item.value, system, old: part === 'old', rank });
	}
	return found;
}

/** The same identifier with another name and another birth date: perhaps two people (an overlay). */
function overlay(resource: JsonObject, patch: ResourcePatch, field: string): Flag | undefined {
	const birthDate = patch.elements['birthDate'];
	if (typeof birthDate !== 'string' || resource['birthDate'] === undefined || resource['birthDate'] === birthDate) return undefined;
	const before = nameKey(resource['name']);
	const after = nameKey(patch.elements['name']);
	if (before === '' || after === '' || before === after) return undefined;
	return { code: 'possible-overlay', text: `${field} names a patient with another name and another birth date` };
}

function nameKey(names: Json | undefined): string {
	const first = Array.isArray(names) ? names[0] : undefined;
	if (first === null || typeof first !== 'object' || Array.isArray(first)) return '';
	const given = Array.isArray(first['given']) ? first['given'][0] : '';
	return `${first['family'] ?? ''}^${given ?? ''}`.toLowerCase();
}
