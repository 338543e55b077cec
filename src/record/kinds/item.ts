import type { JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { patientNamed } from '../apply/named-patient.ts';
import { applyPatch, codingCode } from '../apply/patch.ts';
import type { References } from '../apply/references.ts';
import { revise } from '../apply/revise.ts';
import { newRow, type Row, referenceTo, resourceOf } from '../apply/rows.ts';
import { items } from '../holdings/items.ts';
import { keyDigest } from '../key-digest.ts';
import type { ResourcePatch } from '../resource-patch.ts';

/** A fact that a segment states about a patient (AL1, DG1, PR1). The next message that states it updates it. */
export interface ItemChange {
	kind: 'item';
	resourceType: 'AllergyIntolerance' | 'Condition' | 'Procedure';
	patient: number;
	/** Index of an EncounterChange of the same set, when the message carried the visit. */
	encounter?: number;
	/** The key that identifies it within the patient: its identifier, else its code, else its text. */
	item: string;
	patch: ResourcePatch;
	/** The initial content when the message creates it; the patch is applied on top. */
	initial?: ResourcePatch;
	/** `ignore`: the message withdraws the item (DG1-21 D), which does nothing when it is unknown. */
	unknown: 'create' | 'ignore';
}

export const itemKind = defineChange<ItemChange>({
	kind: 'item',
	keys({ resourceType, patient, item }, keys, message) {
		keys.of(items).push({ resourceType, identifierValues: patientNamed(patient, message), item: keyDigest(item) });
	},
	apply: applyItem,
});

/** Creates an item that a segment states about the patient, or updates the item of an earlier message. */
function applyItem(context: ApplyContext, change: ItemChange, references: References): void {
	const patient = references.patient(change.patient);
	const encounter = references.encounter(change.encounter);
	const { resourceType } = change;
	const item = keyDigest(change.item);
	// A FHIR client may have moved it to another patient or given it another item.
	const held = context.set
		.of(items)
		.of(resourceType, patient.id, item)
		.filter(({ links }) => links['patient_id'] === patient.id && links['item_key'] === item);
	// After a merge both patients may have had it; the newest one is meant.
	const known = held.toSorted((left, right) => (left.id < right.id ? -1 : 1)).at(-1);
	if (known === undefined && change.unknown === 'ignore') return;
	const row = known === undefined ? createItem(context, change, patient, encounter) : reviseItem(context, change, known, encounter);
	if (row !== known) context.set.of(items).put(row);
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
	const links = { patient_id: patientId, item_key: keyDigest(item) };
	return resourceType === 'AllergyIntolerance' ? links : { ...links, encounter_id: encounterId };
}

function reviseItem(context: ApplyContext, change: ItemChange, row: Row, encounter: Row | undefined): Row {
	const resource = resourceOf(row);
	const before = JSON.stringify(resource);
	reinstate(resource, change);
	applyPatch(resource, change.patch);
	// The item keeps the visit in which it was recorded, even when later visits state it again.
	const recorded = resource['encounter'] === undefined ? encounter : undefined;
	if (recorded) resource['encounter'] = { reference: referenceTo(recorded) };
	const text = JSON.stringify(resource);
	const links = recorded ? { ...row.links, encounter_id: recorded.id } : row.links;
	return revise(context, row, text === before ? row.text : text, resource, links);
}

/**
 * Makes an item valid again that was withdrawn as entered in error and is stated once more. AL1 cannot withdraw, so an allergy that a FHIR
 * client marked stays marked.
 */
function reinstate(resource: JsonObject, { resourceType, unknown, initial }: ItemChange): void {
	if (unknown === 'ignore' || resourceType === 'AllergyIntolerance') return;
	const mark = resourceType === 'Condition' ? codingCode(resource['verificationStatus']) : resource['status'];
	if (mark !== 'entered-in-error') return;
	delete resource['verificationStatus'];
	for (const name of ['clinicalStatus', 'status']) {
		const value = initial?.elements[name];
		if (value !== undefined) resource[name] = value;
	}
}
