import { Failure, type FailureLocation } from '#core/failure.ts';
import type { Json, JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { flagLate, isReplayOf, textOf } from '../apply/late-result.ts';
import type { References } from '../apply/references.ts';
import { revise } from '../apply/revise.ts';
import { newRow, type Row, referenceTo, resourceOf } from '../apply/rows.ts';
import { orderKey, orders } from '../holdings/orders.ts';
import { keyDigest } from '../key-digest.ts';
import { isWithdrawn } from '../report.ts';
import { ageOf, isReported, type StatedTimes, takesPlace } from '../result-precedence.ts';

/** The result of which another one says more (OBR-26). */
export interface ParentOfResult {
	order?: { system: string; value: string };
	/** Identifies it within its order. */
	item: string;
	/** The item that a further result has if several are named alike. Then none of them is known to be the parent. */
	second: string;
	display: string;
}

export interface ObservationChange {
	kind: 'observation';
	patient: number;
	/** Index of an EncounterChange of the same set, when the message carried the visit. */
	encounter?: number;
	/** Filler (else placer) order number with its authority, else its application. Without an order the observation is always new. */
	order?: { system: string; value: string };
	/** Identifies the observation within the order: OBX-3, OBX-4 and the parent, and an ordinal if they repeat in the message. */
	item: string;
	/** The whole Observation without id, meta, subject, encounter, hasMember and derivedFrom. */
	resource: JsonObject;
	/** MSH-7 as a FHIR instant. */
	sent?: string | undefined;
	/** Items of the same order in this message that this observation lists as `hasMember`. */
	members?: string[];
	parent?: ParentOfResult;
	/** The message carries a new status and no value (OBX-11 D, U, W, X). A known observation keeps everything else. */
	statusOnly?: true;
	/** The field with the order number. */
	numberedAt?: FailureLocation;
	sequence: number;
}

export const observationKind = defineChange<ObservationChange>({
	kind: 'observation',
	keys({ order, parent }, keys) {
		if (order) keys.of(orders).add(orderKey(order));
		if (parent?.order) keys.of(orders).add(orderKey(parent.order));
	},
	apply: applyObservation,
});

/** Creates the observation, or corrects the one with the same order and item. */
function applyObservation(context: ApplyContext, change: ObservationChange, references: References): void {
	const patient = references.patient(change.patient);
	const encounter = references.encounter(change.encounter);
	const key = change.order ? orderKey(change.order) : undefined;
	if (key !== undefined) refuseForeignOrder(context.set.of(orders).anyOf(key), change, patient);
	const item = keyDigest(change.item);
	const known = key === undefined ? undefined : context.set.of(orders).observation(key, item);
	const held = known && resourceOf(known);
	if (known && held && isLate(known, held, change) && !isReplayOf(context, known)) {
		flagLate(context, `OBX[${change.sequence}]`, held['status'], change.resource['status'], known);
		return;
	}
	const isRestated = change.statusOnly === true || (held !== undefined && isCancelled(held, change));
	const resource = held && isRestated ? restated(held, change) : completed(context, change, references, key);
	const text = JSON.stringify(resource);
	const links = {
		patient_id: patient.id,
		encounter_id: encounter?.id ?? (isRestated ? known?.links['encounter_id'] : undefined) ?? null,
		order_key: key ?? null,
		item_key: key === undefined ? null : item,
		// The time of the message alone makes no version.
		sent_at: (text === known?.text ? known.links['sent_at'] : change.sent) ?? null,
	};
	const row = known
		? revise(context, known, text, resource, links)
		: newObservation(context, references.observationId(context, change.item, key), text, resource, links);
	if (row === known) return;
	if (key === undefined) context.set.put(row);
	else context.set.of(orders).put(key, item, row);
}

/** @throws Failure when the order belongs to another patient, because orders never change patients */
function refuseForeignOrder(any: Row | undefined, change: ObservationChange, patient: Row): void {
	if (any === undefined || any.links['patient_id'] === patient.id) return;
	throw foreignOrder(change.numberedAt);
}

/** The failure of a message whose order belongs to another patient. */
export function foreignOrder(location: FailureLocation = { segment: 'OBR' }): Failure {
	const field = location.field === undefined ? 'OBR-3 (else OBR-2)' : `${location.segment}-${location.field}`;
	return new Failure('key-conflict', `${field} names an order that belongs to another patient of this site`, { location });
}

function completed(context: ApplyContext, change: ObservationChange, references: References, key: string | undefined): JsonObject {
	const encounter = references.encounter(change.encounter);
	const resource: JsonObject = { ...change.resource, subject: { reference: referenceTo(references.patient(change.patient)) } };
	if (encounter) resource['encounter'] = { reference: referenceTo(encounter) };
	if (change.members && change.members.length > 0) {
		resource['hasMember'] = change.members.map((item) => ({ reference: `Observation/${references.observationId(context, item, key)}` }));
	}
	if (change.parent) resource['derivedFrom'] = [parentReference(context, change.parent, references.patient(change.patient))];
	return resource;
}

/** Refers to the parent if it is the only known result that is named like it, and the patient's; else by its name alone. */
function parentReference({ set }: ApplyContext, { order, item, second, display }: ParentOfResult, patient: Row): JsonObject {
	const key = order && orderKey(order);
	const named = key === undefined ? [] : [item, second].flatMap((one) => set.of(orders).observation(key, keyDigest(one)) ?? []);
	const [parent] = named;
	const isKnown = named.length === 1 && parent?.links['patient_id'] === patient.id;
	return isKnown ? { reference: referenceTo(parent), display } : { type: 'Observation', display };
}

function isLate(known: Row, held: JsonObject, { resource, sent }: ObservationChange): boolean {
	const age = ageOf(timesOf(held, known.links['sent_at']), timesOf(resource, sent));
	return !takesPlace(held['status'], resource['status'], age);
}

function timesOf(resource: JsonObject, sent: unknown): StatedTimes {
	const { effectiveDateTime, effectivePeriod, issued } = resource;
	const { start } = (effectivePeriod ?? {}) as JsonObject;
	return { observed: textOf(effectiveDateTime ?? start), reported: textOf(issued), sent: textOf(sent) };
}

/** Tells whether the message cancels (OBX-11 X or N, without a value) what was reported before. Then that is withdrawn and stays to be read. */
function isCancelled(held: JsonObject, { resource }: ObservationChange): boolean {
	return resource['status'] === 'cancelled' && resource['dataAbsentReason'] !== undefined && isReported(held['status']);
}

/** Withdraws the observations of an order that a report named, because the report is cancelled (OBR-25 X). */
export function withdrawObservations(
	context: ApplyContext,
	key: string,
	named: ReadonlySet<Json | undefined>,
	sent: string | undefined,
): void {
	const held = context.set.of(orders);
	for (const [item, row] of held.itemsOf(key)) {
		if (!named.has(referenceTo(row))) continue;
		const resource = resourceOf(row);
		if (isWithdrawn(resource['status'])) continue;
		resource['status'] = isReported(resource['status']) ? 'entered-in-error' : 'cancelled';
		delete resource['_status'];
		const links = { ...row.links, sent_at: sent ?? row.links['sent_at'] ?? null };
		held.put(key, item, revise(context, row, JSON.stringify(resource), resource, links));
	}
}

/** Returns the stored result with the new status, because the message only withdraws or confirms it. */
function restated(resource: JsonObject, change: ObservationChange): JsonObject {
	const { status, _status } = change.resource;
	if (status !== undefined) resource['status'] = status === 'cancelled' && isReported(resource['status']) ? 'entered-in-error' : status;
	if (_status === undefined) delete resource['_status'];
	else resource['_status'] = _status;
	return resource;
}

function newObservation(context: ApplyContext, id: string, text: string, resource: JsonObject, links: Row['links']): Row {
	const row = newRow(context, { resourceType: 'Observation', id, text, resource, links });
	context.changed.push(row);
	return row;
}
