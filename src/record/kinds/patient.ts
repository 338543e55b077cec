import type { FailureLocation } from '#core/failure.ts';
import { type JsonObject, parseExact } from '#core/json.ts';
import { defineChange, type NamedPatient } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { applyPatch } from '../apply/patch.ts';
import { identifiersOf, rewritePatient } from '../apply/patient.ts';
import { newRow, type Row, resourceOf } from '../apply/rows.ts';
import { patientIdentifiers } from '../holdings/patient-identifiers.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import { identifying } from '../identity/identifying.ts';
import { learnAuthority, type StatedAuthority } from '../identity/learn.ts';
import { fieldName, type IdentifiedPatient, identifyPatient } from '../identity/match.ts';
import { agreements } from '../identity/mismatch.ts';
import { noteMismatch, noteOthers } from '../identity/notes.ts';
import { numbersAfter, withNumbers } from '../identity/numbers.ts';
import type { Identifier, ResourcePatch } from '../resource-patch.ts';
import { settingOf } from '../settings/settings.ts';

/** Names the patient for all later changes of the same set, which refer to them by `ref`. */
export interface PatientChange extends NamedPatient {
	kind: 'patient';
	ref: number;
	/** All identifiers of PID-3 in order. Every one that identifies is matched (`record/identity`). */
	identifiers: [Identifier, ...Identifier[]];
	patch: ResourcePatch;
	/** `update`: the patch is applied to a known patient (ADT). `keep`: a known patient stays unchanged (ORU); a new one takes the patch. */
	known: 'update' | 'keep';
	/** Segment sequence, for failures found when applying. */
	sequence: number;
	/** The XPath of the first identifier, in a format without segments. */
	expression?: string;
	/** Names of assigning authorities that the message states together with their universal ids. */
	authorities?: readonly StatedAuthority[];
	/** Security labels (`meta.security`) of the patient; absent when the format does not state them. */
	security?: JsonObject[];
}

export const patientKind = defineChange<PatientChange>({
	kind: 'patient',
	keys({ identifiers }, keys) {
		const values = keys.of(patientIdentifiers);
		for (const { value } of identifying(identifiers)) values.add(value);
	},
	patients: ({ identifiers }) =>
		identifying(identifiers)
			.slice(0, 1)
			.map(({ value }) => value),
	apply(context, change, references) {
		references.setPatient(change.ref, applyPatient(context, change), change.identifiers);
	},
});

/** Creates or updates the patient of a PID segment and returns its current version. */
function applyPatient(context: ApplyContext, change: PatientChange): Row {
	const location: FailureLocation =
		change.expression === undefined ? { segment: 'PID', sequence: change.sequence, field: 3 } : { expression: change.expression };
	const { authority, matchedBy = change.identifiers, authorities = [] } = change;
	for (const stated of authorities) learnAuthority(context, stated);
	const found = identifyPatient(context.set, { identifiers: matchedBy, authority }, location);
	if (found === undefined) return createPatient(context, change);
	const field = fieldName(location);
	if (found.others.length > 0) noteOthers(context, found, field);
	const { elements } = change.patch;
	const isUpdate = change.known === 'update';
	if (isUpdate && !isOfAnother(context, change, found)) {
		noteMismatch(context, found.current, elements, field, 'changed');
		return updatePatient(context, change, found, field);
	}
	noteMismatch(context, found.current, elements, field, 'kept');
	if (isUpdate) {
		const text = `${field} has a number that was merged into another, and states another name, birth date or sex; the record stays as it was`;
		context.flags.push({ code: 'merged-number', text });
	}
	return found.unknown.length === 0 ? found.current : addNumbers(context, found.current, found, field);
}

/**
 * Tells whether a message under a merged number states somebody otherwise than the survivor's record. Its sender may not know of the merge, and the
 * person as the prior patient had them would be taken for the survivor, also after the merge is undone.
 */
function isOfAnother({ message }: ApplyContext, { patch }: PatientChange, { current, throughMerge }: IdentifiedPatient): boolean {
	if (!throughMerge || settingOf(message.settings, 'mismatch') === 'accept') return false;
	return Object.values(agreements(resourceOf(current), patch.elements)).includes('other');
}

function updatePatient(context: ApplyContext, change: PatientChange, found: IdentifiedPatient, field: string): Row {
	const { current, throughMerge, unknown } = found;
	const resource = resourceOf(current);
	// A message under a merged identifier is about the survivor but must not change their identifiers.
	const patch = throughMerge ? withoutIdentifiers(change.patch) : withNumbersOf(context, change.patch, resource, found);
	const row = rewritePatient(context, current, resource, patch, current.links, metaOf(current.meta, change));
	return throughMerge && unknown.length > 0 ? addNumbers(context, row, found, field) : row;
}

/** Gives a known patient the numbers that nobody has, so that the next message finds them by these alone. */
function addNumbers(context: ApplyContext, row: Row, { unknown }: IdentifiedPatient, field: string): Row {
	const resource = resourceOf(row);
	const identifier = withNumbers(resource, unknown);
	if (identifier === undefined) {
		context.flags.push({ code: 'number-not-added', text: `${field} has a new number, but the patient has too many of them already` });
		return row;
	}
	return rewritePatient(context, row, resource, { elements: { identifier }, parts: {} });
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

function withNumbersOf({ set }: ApplyContext, patch: ResourcePatch, resource: JsonObject, found: IdentifiedPatient): ResourcePatch {
	const { identifier } = patch.parts;
	const stated = identifier?.['PID-3'];
	if (stated === undefined || stated === null) return patch;
	const numbers = numbersAfter(resource, stated, found, set.of(siteAuthorities).known);
	return { elements: patch.elements, parts: { ...patch.parts, identifier: { ...identifier, 'PID-3': numbers } } };
}
