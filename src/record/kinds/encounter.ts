import { endsBeforeStart } from '#core/date-range.ts';
import { canonical, type JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { patientNamed } from '../apply/named-patient.ts';
import { applyPatch } from '../apply/patch.ts';
import { revise } from '../apply/revise.ts';
import { newRow, type Row, referenceTo, resourceOf } from '../apply/rows.ts';
import { admissionSystem, openVisits, unknownVisits, visitKey, visits } from '../holdings/visits.ts';
import type { ResourcePatch } from '../resource-patch.ts';
import { hasEnded, isSameStay, patchOf, type VisitAct } from '../visit-course.ts';

export interface EncounterChange {
	kind: 'encounter';
	ref: number;
	patient: number;
	/** PV1-19, else its documented substitutes, within the patient. Without one the patient's open visit is meant. */
	visit?: { system?: string; value: string };
	/** The field by which `visit` names it; absent in a format that does not tell. */
	namedBy?: 'number' | 'account' | 'time';
	/** PV1-44, as a FHIR dateTime. */
	admitted?: string | undefined;
	/** The event says this of the visit; undefined if it only describes it. */
	act?: VisitAct;
	/** The time of the event, as a FHIR dateTime. */
	at?: string | undefined;
	patch: ResourcePatch;
	/** The initial content of a visit that the message creates; the patch is applied on top. */
	initial?: ResourcePatch;
	/** `upsert` creates the visit when unknown; `known-only` does nothing to an unknown one and flags it. */
	unknown: 'create' | 'flag';
}

export const encounterKind = defineChange<EncounterChange>({
	kind: 'encounter',
	keys({ visit, namedBy, patient }, keys, message) {
		if (visit === undefined) {
			keys.of(openVisits).push(...patientNamed(patient, message));
			return;
		}
		const key = visitKey(visit);
		keys.of(visits).add(key);
		if (namedBy === 'number' || namedBy === 'time') {
			keys.of(unknownVisits).push({ key, namedBy, patients: patientNamed(patient, message) });
		}
	},
	apply(context, change, references) {
		references.setEncounter(change.ref, applyEncounter(context, change, references.patient(change.patient)));
	},
});

/** Creates or updates the visit of a PV1 segment. Returns undefined when it is unknown and the event may not create it. */
function applyEncounter(context: ApplyContext, change: EncounterChange, patient: Row): Row | undefined {
	const key = change.visit ? visitKey(change.visit) : undefined;
	const found = key === undefined ? visitMeant(context, change, patient) : visitNumbered(context, key, patient);
	const known = found ?? (key === undefined ? undefined : visitOfOtherName(context, change, patient));
	if (known === undefined && (change.unknown === 'flag' || (change.visit === undefined && change.act !== 'admit'))) {
		const which = change.visit ? 'PV1-19 names a visit that is not known' : 'PV1 has no visit number, and the patient has no such visit';
		context.flags.push({ code: 'unknown-visit', text: `${which}; there was nothing to change` });
		return undefined;
	}
	const row =
		known === undefined
			? createEncounter(context, change, patient, key)
			: reviseEncounter(context, found === undefined ? numbered(change) : change, known, found === undefined ? key : undefined);
	if (row === known) return row;
	const { visit_key: held } = row.links;
	if (typeof held === 'string') context.set.of(visits).put(held, row);
	else context.set.put(row);
	return row;
}

function visitNumbered(context: ApplyContext, key: string, patient: Row): Row | undefined {
	const held = context.set
		.of(visits)
		.of(key)
		.filter(({ links }) => links['patient_id'] === patient.id && links['visit_key'] === key);
	// After a merge two visits with one number may belong to the survivor; the newest one is meant.
	return newestOf(held);
}

/**
 * Returns the patient's open visit that is known by another name than the message has for it: a visit that had no number until now, or, for
 * a message with nothing but the time of admission, the visit that began then. Times that contradict each other are two visits.
 */
function visitOfOtherName(context: ApplyContext, change: EncounterChange, patient: Row): Row | undefined {
	const { namedBy, admitted } = change;
	if (namedBy !== 'number' && namedBy !== 'time') return undefined;
	const open = context.set
		.rows('Encounter')
		.filter((row) => row.links['patient_id'] === patient.id && !hasEnded(resourceOf(row)['status']));
	if (namedBy === 'time') return newestOf(open.filter((row) => admitted !== undefined && periodOf(resourceOf(row)).start === admitted));
	return newestOf(open.filter((row) => isUnnumbered(row) && isSameStay(change, resourceOf(row), new Date(row.lastUpdated).toISOString())));
}

/** Visits that clients wrote under an id or with identifiers of their own are not taken for those of messages. */
function isUnnumbered({ givenId, links, text }: Row): boolean {
	if (givenId !== null) return false;
	const resource = JSON.parse(text) as JsonObject;
	const { visit_key: key } = links;
	const { start } = periodOf(resource);
	const isByTime = typeof key === 'string' && start !== undefined && key === visitKey({ system: admissionSystem, value: start });
	return resource['identifier'] === undefined && (key === null || isByTime);
}

/** Returns the visit that an event without a number is about: the open one, to cancel a discharge the one that ended last. */
function visitMeant(context: ApplyContext, change: EncounterChange, patient: Row): Row | undefined {
	const { act, at, patch } = change;
	const held = context.set.rows('Encounter').filter(({ links }) => links['patient_id'] === patient.id);
	const isEnded = (row: Row) => hasEnded(resourceOf(row)['status']);
	const isOver = act === 'reopen' || (act === 'admit' && patch.elements['status'] === 'finished');
	const finished = isOver ? newestOf(held.filter((row) => resourceOf(row)['status'] === 'finished')) : undefined;
	if (act === 'reopen') return finished;
	const open = openMeant(
		context,
		change,
		held.filter((row) => !isEnded(row)),
	);
	if (open !== undefined || finished !== undefined || act !== 'admit' || at === undefined) return open ?? finished;
	// An admission that came late is about the visit that has ended meanwhile.
	return newestOf(held.filter((row) => isEnded(row) && endsAfter(resourceOf(row), at)));
}

/**
 * Returns the open visit that is meant: of several the one of the class that the event states, else the newest, which is in doubt. An admission of
 * another class is none of a visit that has a number.
 */
function openMeant(context: ApplyContext, { act, patch }: EncounterChange, open: readonly Row[]): Row | undefined {
	const { class: stated = null } = patch.elements;
	const isOfClass = (row: Row) => canonical(resourceOf(row)['class'] ?? null) === canonical(stated);
	const alike = stated === null ? [] : open.filter(isOfClass);
	const isOther = (row: Row) => act === 'admit' && stated !== null && resourceOf(row)['identifier'] !== undefined;
	const meant = alike.length > 0 ? alike : open.filter((row) => !isOther(row));
	if (meant.length > 1) {
		const text = 'PV1 has no visit number, and the patient has several open visits; the newest was taken';
		context.flags.push({ code: 'uncertain-visit', text });
	}
	return newestOf(meant);
}

function newestOf(rows: readonly Row[]): Row | undefined {
	return rows.toSorted((left, right) => (left.id < right.id ? -1 : 1)).at(-1);
}

function endsAfter(visit: JsonObject, at: string): boolean {
	const end = periodOf(visit).end;
	return end !== undefined && !endsBeforeStart(at, end);
}

function periodOf(visit: JsonObject): { start?: string; end?: string } {
	return (visit['period'] ?? {}) as { start?: string; end?: string };
}

function createEncounter(context: ApplyContext, change: EncounterChange, patient: Row, key: string | undefined): Row {
	const resource: JsonObject = { status: 'unknown', class: unknownClass, subject: { reference: referenceTo(patient) } };
	if (change.initial) applyPatch(resource, change.initial);
	patchVisit(context, resource, change);
	resource['class'] ??= unknownClass;
	const links = { patient_id: patient.id, visit_key: key ?? null };
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

/** Returns the change with the number by which the visit is known from now on. */
function numbered(change: EncounterChange): EncounterChange {
	const { namedBy, initial, patch } = change;
	const identifier = patch.elements['identifier'] ?? initial?.elements['identifier'];
	if (namedBy !== 'number' || identifier === undefined) return change;
	return { ...change, patch: { ...patch, elements: { ...patch.elements, identifier } } };
}

/** `key` is set when the visit is known by another name so far. That of a number takes its place. */
function reviseEncounter(context: ApplyContext, change: EncounterChange, row: Row, key?: string): Row {
	const resource = resourceOf(row);
	const patch = patchOf(change, resource);
	if (patch === undefined) {
		const text = 'the event is about a visit that has ended or was cancelled; the visit stays as it is';
		context.flags.push({ code: 'visit-ended', text });
		return row;
	}
	const before = JSON.stringify(resource);
	patchVisit(context, resource, { ...change, patch });
	resource['status'] ??= 'unknown';
	resource['class'] ??= unknownClass;
	const text = JSON.stringify(resource);
	const links = key !== undefined && change.namedBy === 'number' ? { ...row.links, visit_key: key } : row.links;
	return revise(context, row, text === before ? row.text : text, resource, links);
}
