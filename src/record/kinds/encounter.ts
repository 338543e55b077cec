import { endsBeforeStart } from '#core/date-range.ts';
import type { JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { applyPatch } from '../apply/patch.ts';
import { revise } from '../apply/revise.ts';
import { newRow, type Row, referenceTo, resourceOf } from '../apply/rows.ts';
import { visitKey, visits } from '../holdings/visits.ts';
import type { ResourcePatch } from '../resource-patch.ts';

export interface EncounterChange {
	kind: 'encounter';
	ref: number;
	patient: number;
	/** PV1-19, else its documented substitutes, within the patient. */
	visit: { system?: string; value: string };
	patch: ResourcePatch;
	/** The initial content of a visit that the message creates; the patch is applied on top. */
	initial?: ResourcePatch;
	/** `upsert` creates the visit when unknown; `known-only` does nothing to an unknown one and flags it. */
	unknown: 'create' | 'flag';
}

export const encounterKind = defineChange<EncounterChange>({
	kind: 'encounter',
	keys: ({ visit }, keys) => keys.of(visits).add(visitKey(visit)),
	apply(context, change, references) {
		references.setEncounter(change.ref, applyEncounter(context, change, references.patient(change.patient)));
	},
});

/** Creates or updates the visit of a PV1 segment. Returns undefined when it is unknown and the event may not create it. */
function applyEncounter(context: ApplyContext, change: EncounterChange, patient: Row): Row | undefined {
	const key = visitKey(change.visit);
	const held = context.set
		.of(visits)
		.of(key)
		.filter(({ links }) => links['patient_id'] === patient.id && links['visit_key'] === key);
	// After a merge two visits with one number may belong to the survivor; the newest one is meant.
	const known = held.sort((left, right) => (left.id < right.id ? -1 : 1)).at(-1);
	if (known === undefined && change.unknown === 'flag') {
		context.flags.push({ code: 'unknown-visit', text: 'PV1-19 names a visit that is not known; there was nothing to change' });
		return undefined;
	}
	const row = known === undefined ? createEncounter(context, change, patient, key) : reviseEncounter(context, change, known);
	if (row !== known) context.set.of(visits).put(key, row);
	return row;
}

function createEncounter(context: ApplyContext, change: EncounterChange, patient: Row, key: string): Row {
	const resource: JsonObject = { status: 'unknown', class: unknownClass, subject: { reference: referenceTo(patient) } };
	if (change.initial) applyPatch(resource, change.initial);
	patchVisit(context, resource, change);
	const links = { patient_id: patient.id, visit_key: key };
	const row = newRow(context, { resourceType: 'Encounter', id: context.newId(), text: JSON.stringify(resource), resource, links });
	context.changed.push(row);
	return row;
}

/** Patches a visit. Admission and discharge may come in separate messages, but together they must form a period (FHIR R4 per-1). */
function patchVisit({ flags }: ApplyContext, resource: JsonObject, { patch }: EncounterChange): void {
	applyPatch(resource, patch);
	const { start, end } = (resource['period'] ?? {}) as { start?: string; end?: string };
	if (start === undefined || end === undefined || !endsBeforeStart(start, end)) return;
	resource['period'] = { start };
	flags.push({ code: 'unreadable-value', text: 'the visit would end before it begins; its end was left out' });
}

/** Encounter.class is required (FHIR R4 §8.11.1); PV1-2 may be empty. */
const unknownClass: JsonObject = { system: 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor', code: 'UNK', display: 'unknown' };

function reviseEncounter(context: ApplyContext, change: EncounterChange, row: Row): Row {
	const resource = resourceOf(row);
	const before = JSON.stringify(resource);
	patchVisit(context, resource, change);
	resource['status'] ??= 'unknown';
	resource['class'] ??= unknownClass;
	const text = JSON.stringify(resource);
	return revise(context, row, text === before ? row.text : text, resource, row.links);
}
