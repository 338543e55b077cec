import type { JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { identified, makeIdentified, reviseIdentified } from '../apply/identified.ts';
import { patientNamed } from '../apply/named-patient.ts';
import type { References } from '../apply/references.ts';
import { type Row, referenceTo, resourceOf } from '../apply/rows.ts';
import { identifiersOf, identifierTerm, peopleAndPlaces } from '../holdings/people-and-places.ts';
import { identifierKey } from '../identity/identifier-key.ts';
import { messageOrigin } from '../person-or-place.ts';
import type { Identifier } from '../resource-patch.ts';

/** The order on which results of a message are based (HL7 v2.5.1 §4.5.3). It stands before the changes whose references mean it. */
export interface ServiceRequestChange {
	kind: 'service-request';
	patient: number;
	/** Index of an EncounterChange of the same set, when the message carried the visit. */
	encounter?: number;
	/** Placer's and filler's number. Each of them alone leads to the order among those of the patient. */
	identifiers: readonly [Identifier, ...Identifier[]];
	/** Names of the references that mean it, made by `referenceName`. */
	named: readonly string[];
	/** The content without identifier, subject and encounter. */
	resource: JsonObject;
	/** One that is not known is made, or stays a reference by identifier. */
	unknown: 'create' | 'ignore';
	/** The field that names it, for flags. */
	field: string;
}

export const serviceRequestKind = defineChange<ServiceRequestChange>({
	kind: 'service-request',
	keys({ identifiers, patient }, keys, message) {
		const { orders } = keys.of(peopleAndPlaces);
		const patients = patientNamed(patient, message);
		for (const { value } of identifiers) {
			const term = identifierTerm('ServiceRequest', value);
			for (const number of patients) orders.push({ term, patient: number });
		}
	},
	apply(context, change, references) {
		const row = serviceRequest(context, change, references);
		if (row !== undefined) for (const name of change.named) references.setNamed(name, row);
	},
});

/** Returns the patient's order; undefined when there is none, or nobody can tell which is meant. */
function serviceRequest(context: ApplyContext, change: ServiceRequestChange, references: References): Row | undefined {
	const { identifiers, field } = change;
	const patient = references.patient(change.patient);
	// Other senders may have given the same number to an order of another patient.
	const named = { resourceType: 'ServiceRequest', identifiers, field } as const;
	const found = identified(context, named, ({ links }) => links['patient_id'] === patient.id);
	if (found === 'unclear') return undefined;
	const visit = references.encounter(change.encounter);
	const stated: JsonObject = { ...change.resource, ...(visit === undefined ? {} : { encounter: { reference: referenceTo(visit) } }) };
	if (found === undefined) {
		if (change.unknown === 'ignore') return undefined;
		const resource: JsonObject = { identifier: [...identifiers], ...stated, subject: { reference: referenceTo(patient) } };
		return makeIdentified(context, 'ServiceRequest', resource, { patient_id: patient.id });
	}
	return found.links['origin'] === messageOrigin && change.unknown === 'create'
		? revised(context, change, found, stated, references.isNamed(found))
		: found;
}

/** Statuses from which results of an order do not lead back. */
const over: ReadonlySet<unknown> = new Set(['completed', 'revoked', 'entered-in-error']);

/**
 * Parts of one order are reported one by one, so what is known stays; a message adds to it, and says who ordered and how far it has come. If it
 * has several parts of the order, the first of them says that.
 */
function revised(context: ApplyContext, { identifiers }: ServiceRequestChange, held: Row, stated: JsonObject, isNamed: boolean): Row {
	const before = resourceOf(held);
	const numbers = identifiersOf(before);
	const told = new Set(numbers.map(identifierKey));
	const further = identifiers.filter((identifier) => !told.has(identifierKey(identifier)));
	const resource: JsonObject = { ...stated, ...before, identifier: [...numbers, ...further] };
	if (!isNamed) {
		if (stated['requester'] !== undefined) resource['requester'] = stated['requester'];
		if (over.has(stated['status']) || !over.has(before['status'])) resource['status'] = stated['status'] ?? 'active';
	}
	return reviseIdentified(context, held, resource);
}
