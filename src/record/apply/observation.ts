import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import type { ObservationChange } from '../change-set.ts';
import { orderKey, orders } from '../holdings/orders.ts';
import type { ApplyContext } from './context.ts';
import { revise } from './revise.ts';
import { fhirIdOf, newRow, type Row, referenceTo, resourceOf } from './rows.ts';

/** Ids that `hasMember` may name before the member itself is applied; one for each message. */
export type ReservedIds = Map<string, string>;

/** Creates the observation, or corrects the one that has the same order, OBX-3 and OBX-4. */
export function applyObservation(
	context: ApplyContext,
	change: ObservationChange,
	patient: Row,
	encounter: Row | undefined,
	reserved: ReservedIds,
): void {
	const key = change.order ? orderKey(change.order) : undefined;
	if (key !== undefined) refuseForeignOrder(context.set.of(orders).anyOf(key), change, patient);
	const known = key === undefined ? undefined : context.set.of(orders).observation(key, change.item);
	const resource = known && change.statusOnly ? restated(known, change) : completed(context, change, patient, encounter, key, reserved);
	const text = JSON.stringify(resource);
	const links = {
		patient_id: patient.id,
		encounter_id: encounter?.id ?? (change.statusOnly ? known?.links['encounter_id'] : undefined) ?? null,
		order_key: key ?? null,
		item_key: key === undefined ? null : change.item,
	};
	const row = known
		? revise(context, known, text, resource, links)
		: newObservation(context, memberIdOf(context, change.item, key, reserved), text, resource, links);
	if (row === known) return;
	if (key === undefined) context.set.put(row);
	else context.set.of(orders).put(key, change.item, row);
}

/** @throws Failure when the order belongs to another patient: orders do not change hands */
function refuseForeignOrder(any: Row | undefined, change: ObservationChange, patient: Row): void {
	if (any === undefined || any.links['patient_id'] === patient.id) return;
	throw new Failure('key-conflict', 'OBR-3 (else OBR-2) names an order that belongs to another patient of this site', {
		location: { segment: 'OBX', sequence: change.sequence },
	});
}

function completed(
	context: ApplyContext,
	change: ObservationChange,
	patient: Row,
	encounter: Row | undefined,
	key: string | undefined,
	reserved: ReservedIds,
): JsonObject {
	const resource: JsonObject = { ...change.resource, subject: { reference: referenceTo(patient) } };
	if (encounter) resource['encounter'] = { reference: referenceTo(encounter) };
	if (change.members && change.members.length > 0) {
		resource['hasMember'] = change.members.map((item) => ({ reference: `Observation/${memberIdOf(context, item, key, reserved)}` }));
	}
	return resource;
}

/** A message that only withdraws or confirms a result leaves the result as it was sent. */
function restated(known: Row, change: ObservationChange): JsonObject {
	const resource = resourceOf(known);
	const { status, _status } = change.resource;
	if (status !== undefined) resource['status'] = status;
	if (_status === undefined) delete resource['_status'];
	else resource['_status'] = _status;
	return resource;
}

/** The id of an observation of the message, also before it is applied. */
export function memberIdOf(context: ApplyContext, item: string, key: string | undefined, reserved: ReservedIds): string {
	const known = key === undefined ? undefined : context.set.of(orders).observation(key, item);
	if (known !== undefined) return fhirIdOf(known);
	const name = `${key ?? ''}\n${item}`;
	const id = reserved.get(name) ?? context.newId();
	reserved.set(name, id);
	return id;
}

function newObservation(context: ApplyContext, id: string, text: string, resource: JsonObject, links: Row['links']): Row {
	const row = newRow(context, { resourceType: 'Observation', id, text, resource, links });
	context.changed.push(row);
	return row;
}
