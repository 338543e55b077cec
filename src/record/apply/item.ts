import type { JsonObject } from '#core/json.ts';
import type { ItemChange } from '../change-set.ts';
import type { ApplyContext } from './context.ts';
import { applyPatch } from './patch.ts';
import { revise } from './revise.ts';
import { newRow, type Row, referenceTo, resourceOf } from './rows.ts';

/** Creates what a segment states of the patient, or updates what an earlier message stated. */
export function applyItem(context: ApplyContext, change: ItemChange, patient: Row, encounter: Row | undefined): void {
	const held = context.set.items(change.resourceType, patient.id, change.item);
	// After a merge both patients may have had it; the newest is the one that is spoken of.
	const known = held.toSorted((left, right) => (left.id < right.id ? -1 : 1)).at(-1);
	if (known === undefined && change.unknown === 'ignore') return;
	const row = known === undefined ? createItem(context, change, patient, encounter) : reviseItem(context, change, known, encounter);
	if (row !== known) context.set.putItem(row);
}

function createItem(context: ApplyContext, change: ItemChange, patient: Row, encounter: Row | undefined): Row {
	const { resourceType } = change;
	const subject = { reference: referenceTo(patient) };
	const resource: JsonObject = resourceType === 'AllergyIntolerance' ? { patient: subject } : { subject };
	if (encounter) resource['encounter'] = { reference: referenceTo(encounter) };
	if (change.initial) applyPatch(resource, change.initial);
	applyPatch(resource, change.patch);
	const row = newRow(context, {
		resourceType,
		id: context.newId(),
		text: JSON.stringify(resource),
		resource,
		links: linksOf(change, patient.id, encounter?.id ?? null),
	});
	context.changed.push(row);
	return row;
}

function linksOf({ resourceType, item }: ItemChange, patientId: string, encounterId: string | null): Row['links'] {
	const links = { patient_id: patientId, item_key: item };
	return resourceType === 'AllergyIntolerance' ? links : { ...links, encounter_id: encounterId };
}

function reviseItem(context: ApplyContext, change: ItemChange, row: Row, encounter: Row | undefined): Row {
	const resource = resourceOf(row);
	const before = JSON.stringify(resource);
	applyPatch(resource, change.patch);
	if (encounter) resource['encounter'] = { reference: referenceTo(encounter) };
	const text = JSON.stringify(resource);
	const links = { ...row.links, ...(encounter ? { encounter_id: encounter.id } : {}) };
	return revise(context, row, text === before ? row.text : text, resource, links);
}
