import type { Json, JsonObject } from '#core/json.ts';
import type { CodeableConcept, Coding, Identifier, Reference } from '#fhir/datatypes.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { codeText } from '#fhir/mapping/text.ts';
import { toDateTime } from '#fhir/mapping/timestamp.ts';
import { admissionSystem } from '#record/holdings/visits.ts';
import type { EncounterChange } from '#record/kinds/encounter.ts';
import { referenceName } from '#record/person-or-place.ts';
import type { ResourcePatch } from '#record/resource-patch.ts';
import type { VisitAct } from '#record/visit-course.ts';
import type { Segment } from '../message.ts';
import { type Context, nameOf } from './context.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { identifier, identifiers } from './datatypes/cx.ts';
import { location } from './datatypes/pl.ts';
import { practitioners } from './datatypes/xcn.ts';
import { sendingFacility } from './facility.ts';
import { participation } from './participation.ts';
import { replace } from './pid.ts';
import type { Role } from './rol.ts';

export interface EncounterOptions {
	/** Encounter.status after the event; undefined when the event does not change it (A08, ORU). */
	status?: 'in-progress' | 'finished' | 'cancelled';
	/** The event says this of the visit; A08 and ORU only describe it. */
	act?: VisitAct;
	/** The time of the event. */
	at?: () => string | undefined;
	/** A03: the end of the visit, unless PV1-45 states it. */
	ended?: () => string | undefined;
	/** A13: the discharge is cancelled, with its time and disposition. */
	reopens?: true;
	/** Those who have a role in the visit, beside the doctors of PV1. */
	roles?: readonly Role[];
	unknown: EncounterChange['unknown'];
	/** `keep`: a known visit stays unchanged (ORU). */
	known: 'update' | 'keep';
}

/**
 * Converts the visit of a PV1 segment, as a snapshot. Undefined, and flagged, when nothing in the message identifies the visit within the
 * patient.
 */
export function encounterChange(
	pv1: Segment | undefined,
	pid: Segment,
	ref: number,
	patient: number,
	options: EncounterOptions,
	context: Context,
): EncounterChange | undefined {
	if (pv1 === undefined) return undefined;
	const visit = visitOf(pv1, pid, context);
	if (visit === undefined && (options.act === undefined || !isVisit(pv1))) {
		context.flag('segment-skipped', `${nameOf(pv1)} has no visit number (PV1-19, PV1-50, PID-18 or PV1-44); no Encounter was written`);
		return undefined;
	}
	const patch = encounterPatch(pv1, pid, options, context);
	const initial: ResourcePatch = { elements: { status: initialStatus(pv1, options) }, parts: {} };
	const change = {
		kind: 'encounter',
		ref,
		patient,
		...(visit === undefined ? { at: options.at?.() ?? context.sent } : { ...visit, admitted: toDateTime(pv1.text(44), context.zone) }),
		...(options.act === undefined ? {} : { act: options.act }),
		unknown: options.unknown,
	} as const;
	if (options.known === 'update') return { ...change, initial, patch };
	return {
		...change,
		initial: { elements: { ...initial.elements, ...patch.elements }, parts: patch.parts },
		patch: { elements: {}, parts: {} },
	};
}

/** Some senders write a PV1 in every message. Table 0004: N means that there is no visit. */
function isVisit(pv1: Segment): boolean {
	const patientClass = pv1.text(2).trim().toUpperCase();
	return patientClass !== 'N' && (patientClass !== '' || pv1.text(3) !== '');
}

/** Returns the visit's key: PV1-19, else PV1-50, else the account of PID-18, else the time of admission. */
function visitOf(pv1: Segment, pid: Segment, context: Context): Required<Pick<EncounterChange, 'visit' | 'namedBy'>> | undefined {
	const number = identifier(pv1, 19) ?? identifiers(pv1, 50)[0];
	if (number !== undefined) {
		const system = number['system'];
		return { visit: typeof system === 'string' ? { system, value: number.value } : { value: number.value }, namedBy: 'number' };
	}
	const account = pid.isPresent(18) ? identifier(pid, 18) : undefined;
	// The space, which no authority's URI has, keeps an account's number apart from a visit's of the same value.
	if (account !== undefined) return { visit: { system: `PID-18 ${account['system'] ?? ''}`, value: account.value }, namedBy: 'account' };
	const admitted = toDateTime(pv1.text(44), context.zone);
	return admitted === undefined ? undefined : { visit: { system: admissionSystem, value: admitted }, namedBy: 'time' };
}

/**
 * Returns the status of a visit that the message creates although its event does not state one (v2-to-FHIR, PV1-45 and PV1-2). An A08 is
 * about a
 * visit in progress; a result may come long after the discharge.
 */
function initialStatus(pv1: Segment, { known }: EncounterOptions): string {
	if (pv1.text(45) !== '') return 'finished';
	if (pv1.text(2) === 'P') return 'planned';
	return known === 'update' ? 'in-progress' : 'unknown';
}

function encounterPatch(pv1: Segment, pid: Segment, options: EncounterOptions, context: Context): ResourcePatch {
	const elements: Record<string, Json> = {};
	const status = statusOf(pv1, options);
	if (status !== undefined) elements['status'] = status;
	replace(elements, 'class', pv1, 2, () => encounterClass(pv1));
	replace(elements, 'type', pv1, 4, () => one(codeableConcept(pv1, 4, 0, v2Table('0007'))));
	replace(elements, 'serviceType', pv1, 10, () => codeableConcept(pv1, 10, 0, v2Table('0069')));
	replace(elements, 'hospitalization.admitSource', pv1, 14, () => codeableConcept(pv1, 14, 0, v2Table('0023')));
	if (options.reopens) elements['hospitalization.dischargeDisposition'] = null;
	else replace(elements, 'hospitalization.dischargeDisposition', pv1, 36, () => codeableConcept(pv1, 36, 0, v2Table('0112')));
	replace(elements, 'location', pv1, 3, () => locations(pv1, context));
	period(elements, pv1, options, context);
	const numbers = visitIdentifiers(pv1, pid);
	if (numbers.length > 0) elements['identifier'] = numbers;
	const participant = participants(pv1, options.roles ?? [], context);
	const facility = options.known === 'update' ? sendingFacility(context) : undefined;
	if (facility !== undefined) elements['serviceProvider'] = facility;
	return { elements, parts: participant ? { participant } : {} };
}

function statusOf(pv1: Segment, { status, reopens }: EncounterOptions): string | undefined {
	if (reopens || status === 'cancelled' || status === 'finished') return status;
	if (pv1.text(45) !== '') return 'finished';
	return status === 'in-progress' && pv1.text(2) === 'P' ? 'planned' : status;
}

const actCode = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';
/** Table 0004 → v3-ActCode (v2-to-FHIR concept map); the other codes of the table stay codes of the table. */
const classes: Readonly<Record<string, Coding>> = {
	E: { system: actCode, code: 'EMER', display: 'emergency' },
	I: { system: actCode, code: 'IMP', display: 'inpatient encounter' },
	O: { system: actCode, code: 'AMB', display: 'ambulatory' },
	P: { system: actCode, code: 'PRENC', display: 'pre-admission' },
};
const actCodes: ReadonlySet<string> = new Set(['AMB', 'EMER', 'FLD', 'HH', 'IMP', 'ACUTE', 'NONAC', 'OBSENC', 'PRENC', 'SS', 'VR']);

function encounterClass(pv1: Segment): Coding | undefined {
	const code = codeText(pv1.text(2));
	if (code === '') return undefined;
	return entryOf(classes, code) ?? (actCodes.has(code) ? { system: actCode, code } : { system: v2Table('0004'), code });
}

function one(concept: CodeableConcept | undefined): CodeableConcept[] | undefined {
	return concept === undefined ? undefined : [concept];
}

/** PV1-3, and PV1-6 as the previous location. */
function locations(pv1: Segment, context: Context): JsonObject[] | undefined {
	const current = location(pv1, 3, context);
	if (current === undefined) return undefined;
	const list: JsonObject[] = [{ location: current, status: pv1.text(2) === 'P' ? 'planned' : 'active' }];
	const prior = location(pv1, 6, context);
	if (prior !== undefined) list.push({ location: prior, status: 'completed' });
	return list;
}

function period(elements: Record<string, Json>, pv1: Segment, options: EncounterOptions, context: Context): void {
	replace(elements, 'period.start', pv1, 44, () => context.time(pv1, 44));
	if (options.reopens) elements['period.end'] = null;
	else {
		replace(elements, 'period.end', pv1, 45, () => context.time(pv1, 45));
		const ended = 'period.end' in elements ? undefined : options.ended?.();
		if (ended !== undefined) elements['period.end'] = ended;
	}
}

function visitIdentifiers(pv1: Segment, pid: Segment): Identifier[] {
	const visit = identifier(pv1, 19);
	const alternates = identifiers(pv1, 50);
	const list: Identifier[] = [];
	if (visit) list.push({ ...visit, type: { coding: [{ system: v2Table('0203'), code: 'VN', display: 'Visit number' }] } });
	list.push(...alternates);
	const account = list.length === 0 && pid.isPresent(18) ? identifier(pid, 18, 0, undefined, 'AN') : undefined;
	return account ? [account] : list;
}

const doctors: readonly { field: number; type: Coding & { code: string } }[] = [
	{ field: 7, type: participation.ATND },
	{ field: 8, type: participation.REF },
	{ field: 9, type: participation.CON },
	{ field: 17, type: participation.ADM },
];

function participants(pv1: Segment, roles: readonly Role[], context: Context): ResourcePatch['parts'][string] | undefined {
	let parts: ResourcePatch['parts'][string] | undefined;
	for (const { field, type } of doctors) {
		if (!pv1.isPresent(field)) continue;
		const people = practitioners(pv1, field, context);
		if (people.length === 0 && !pv1.isNull(field)) continue;
		parts ??= {};
		parts[type.code] = people.length === 0 ? null : people.map((individual) => participant(type, individual));
	}
	for (const { type, people } of roles) {
		parts ??= {};
		const code = type.code ?? '';
		const held = parts[code] ?? [];
		const told = new Set(held.map(({ individual }) => referenceName(individual as JsonObject)));
		const further = people.filter((individual) => !told.has(referenceName(individual)) || individual.identifier === undefined);
		parts[code] = [...held, ...further.map((individual) => participant(type, individual))];
	}
	return parts;
}

function participant(type: Coding, individual: Reference): JsonObject {
	return { type: [{ coding: [type] }], individual };
}
