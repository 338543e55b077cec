import type { JsonObject } from '#core/json.ts';
import type { CodeableConcept, ContactPoint, Period } from '#fhir/datatypes.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import { periodOf } from '#fhir/mapping/period.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { Segment } from '../message.ts';
import { type Context, nameOf } from './context.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { addresses } from './datatypes/xad.ts';
import { organization } from './datatypes/xcn.ts';
import { humanNames } from './datatypes/xpn.ts';
import { contactPoints } from './datatypes/xtn.ts';
import { administrativeGender } from './pid.ts';
import { relationships } from './relationship-codes.ts';

/**
 * Converts NK1 (v2.5.1 §3.4.5) to Patient.contact: all NK1 of a message are the whole list. Null when they only delete, undefined when they
 * state
 * nothing. The element ids distinguish them from contacts of other sources.
 */
export function contacts(segments: readonly Segment[], context: Context): JsonObject[] | null | undefined {
	const list: JsonObject[] = [];
	let deletes = false;
	for (const nk1 of segments) {
		const contact = contactOf(nk1, context);
		if (contact !== undefined) list.push({ id: `NK1.${list.length + 1}`, ...contact });
		else if (isDeletion(nk1)) deletes = true;
		else context.flag('segment-skipped', `${nameOf(nk1)} has neither name, telecom, address nor organization and was left out`);
	}
	if (list.length > 0) return list;
	return deletes ? null : undefined;
}

function isDeletion(nk1: Segment): boolean {
	return [2, 3, 4, 5, 6, 13].some((field) => nk1.isNull(field));
}

const relationshipTable = v2Table('0063');

/** Undefined when a required part of a contact is missing (FHIR R4 Patient, pat-1). */
function contactOf(nk1: Segment, context: Context): JsonObject | undefined {
	const { zone } = context;
	const name = humanNames(nk1, 2, zone)[0];
	const telecom = telecoms(nk1, zone);
	const address = addresses(nk1, 4, zone)[0];
	// An employer takes no part in care, so it is displayed, whatever the setting of the sender.
	const employer = nk1.isPresent(13) ? organization(nk1, 13, { mentions: undefined }) : undefined;
	if (name === undefined && telecom.length === 0 && address === undefined && employer === undefined) return undefined;
	const contact: JsonObject = {};
	const relationship = [relation(nk1), codeableConcept(nk1, 7, 0, v2Table('0131'))].filter((concept) => concept !== undefined);
	if (relationship.length > 0) contact['relationship'] = relationship;
	if (name) contact['name'] = name;
	if (telecom.length > 0) contact['telecom'] = telecom;
	if (address) contact['address'] = address;
	const gender = administrativeGender(nk1, 15, context);
	if (gender !== undefined) contact['gender'] = gender;
	if (employer) contact['organization'] = employer;
	const period = active(nk1, context);
	if (period) contact['period'] = period;
	return contact;
}

/** NK1-3, by the first code. */
function relation(nk1: Segment): CodeableConcept | undefined {
	const concept = codeableConcept(nk1, 3, 0, relationshipTable);
	const first = concept?.coding?.[0];
	if (concept === undefined || first?.system !== relationshipTable || first.code === undefined) return concept;
	const mapped = entryOf(relationships, first.code);
	return mapped === undefined ? concept : { ...concept, coding: [mapped, ...(concept.coding ?? [])] };
}

/** NK1-5, NK1-6 (work) and NK1-40 (v2.7). */
function telecoms(nk1: Segment, zone: Zone): ContactPoint[] {
	return [...contactPoints(nk1, 5, undefined, zone), ...contactPoints(nk1, 6, 'work', zone), ...contactPoints(nk1, 40, undefined, zone)];
}

/** NK1-8 and NK1-9. */
function active(nk1: Segment, context: Context): Period | undefined {
	const start = nk1.isPresent(8) ? context.time(nk1, 8) : undefined;
	const end = nk1.isPresent(9) ? context.time(nk1, 9) : undefined;
	return periodOf(start, end);
}
