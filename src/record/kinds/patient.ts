import { type Json, type JsonObject, parseExact } from '#core/json.ts';
import { defineChange, type NamedPatient } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { fieldName, matchPatient } from '../apply/match-patient.ts';
import { applyPatch } from '../apply/patch.ts';
import { identifiersOf, rewritePatient } from '../apply/patient.ts';
import { newRow, type Row, resourceOf } from '../apply/rows.ts';
import type { Flag } from '../flag.ts';
import { patientIdentifiers } from '../holdings/patient-identifiers.ts';
import type { Identifier, ResourcePatch } from '../resource-patch.ts';

/** Names the patient for all later changes of the same set, which refer to them by `ref`. */
export interface PatientChange extends NamedPatient {
	kind: 'patient';
	ref: number;
	/** All identifiers of PID-3 in order; the first is the business identifier, by which the patient is matched. */
	identifiers: [Identifier, ...Identifier[]];
	patch: ResourcePatch;
	/** `update`: the patch is applied to a known patient (ADT). `keep`: a known patient stays unchanged (ORU); a new one takes the patch. */
	known: 'update' | 'keep';
	/** Segment sequence, for failures found when applying. */
	sequence: number;
	/** The XPath of the first identifier, in a format without segments. */
	expression?: string;
	/** Security labels (`meta.security`) of the patient; absent when the format does not state them. */
	security?: JsonObject[];
}

export const patientKind = defineChange<PatientChange>({
	kind: 'patient',
	keys: ({ identifiers }, keys) => keys.of(patientIdentifiers).add(identifiers[0].value),
	patients: ({ identifiers }) => [identifiers[0].value],
	apply(context, change, references) {
		references.setPatient(change.ref, applyPatient(context, change), change.identifiers[0]);
	},
});

/** Creates or updates the patient of a PID segment and returns its current version. */
function applyPatient(context: ApplyContext, change: PatientChange): Row {
	const location =
		change.expression === undefined ? { segment: 'PID', sequence: change.sequence, field: 3 } : { expression: change.expression };
	const match = matchPatient(context.set, change.identifiers[0], location);
	if (match === undefined) return createPatient(context, change);
	if (change.known === 'keep') return match.current;
	const resource = resourceOf(match.current);
	const flag = overlay(resource, change.patch, fieldName(location));
	if (flag) context.flags.push(flag);
	// A message under a merged identifier is about the survivor but must not change their identifiers.
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

/** Replaces the labels in the meta by those that the change states; its other members stay. */
function metaOf(meta: Row['meta'], { security }: PatientChange): Row['meta'] {
	if (security === undefined) return meta;
	const held: JsonObject = meta === null ? {} : parseExact(meta);
	return JSON.stringify({ ...held, security });
}

function withoutIdentifiers(patch: ResourcePatch): ResourcePatch {
	const { identifier: _renaming, ...parts } = patch.parts;
	return { elements: patch.elements, parts };
}

/** Returns a flag when the same identifier comes with another name and another birth date: perhaps two people (an overlay). */
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
