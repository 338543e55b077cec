import type { JsonObject } from '#core/json.ts';
import { type Context, keyLengthMax } from '#hl7v3/context.ts';
import { codeableConcept } from '#hl7v3/datatypes/cd.ts';
import { uncheckedIdentifier } from '#hl7v3/datatypes/ii.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import type { EncounterChange } from '#record/kinds/encounter.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { assigned, facilityReference, organizationReference } from './participant.ts';
import { extent } from './times.ts';

const actCode = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';
/** ActEncounterCode (2.16.840.1.113883.1.11.13955). */
const classes: ReadonlySet<string> = new Set(['AMB', 'EMER', 'FLD', 'HH', 'IMP', 'ACUTE', 'NONAC', 'OBSENC', 'PRENC', 'SS', 'VR']);

/**
 * componentOf/encompassingEncounter (CDA R2 §4.2.3.5): a visit that is known stays as it is, for messages about it say more; one
 * that is not known is created. Undefined without an id.
 */
export function encounterChange(document: XmlElement, patient: number, context: Context): EncounterChange | undefined {
	const encounter = document.first('componentOf', 'encompassingEncounter');
	const numbers = (encounter?.children('id') ?? []).map((id) => visitNumber(id, context)).filter((number) => number !== undefined);
	const [first] = numbers;
	if (encounter === undefined || first === undefined) return undefined;
	const { system, value } = first;
	const initial: JsonObject = { identifier: numbers, status: 'unknown' };
	const period = extent(encounter.first('effectiveTime'), context);
	if (period) initial['period'] = period;
	if (period?.end !== undefined) initial['status'] = 'finished';
	addClass(initial, encounter);
	const disposition = encounter.first('dischargeDispositionCode');
	const dischargeDisposition = disposition && codeableConcept(disposition);
	if (dischargeDisposition) initial['hospitalization'] = { dischargeDisposition };
	if (context.mentions !== undefined) addPeopleAndPlaces(initial, encounter, context);
	return {
		kind: 'encounter',
		ref: 0,
		patient,
		visit: typeof system === 'string' ? { system, value } : { value },
		patch: { elements: {}, parts: {} },
		initial: { elements: initial, parts: {} },
		unknown: 'create',
	};
}

const participationType = 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType';
/** The participations of an encounterParticipant (x_EncounterParticipant). */
const participations: ReadonlySet<string> = new Set(['ADM', 'ATND', 'CON', 'DIS', 'REF']);

/** Those who took part, where, and for whom, for a sender whose documents refer to resources. */
function addPeopleAndPlaces(initial: JsonObject, encounter: XmlElement, context: Context): void {
	const participant: JsonObject[] = [];
	for (const element of encounter.children('encounterParticipant')) {
		const individual = assigned(element.first('assignedEntity'), context);
		const code = element.attribute('typeCode');
		if (individual === undefined || individual.type !== 'Practitioner') continue;
		const type = participations.has(code) ? { type: [{ coding: [{ system: participationType, code }] }] } : {};
		participant.push({ ...type, individual });
	}
	if (participant.length > 0) initial['participant'] = participant;
	const facility = encounter.first('location', 'healthCareFacility');
	if (facility === undefined) return;
	const location = facilityReference(facility, context);
	if (location !== undefined) initial['location'] = [{ location }];
	const provider = organizationReference(facility.first('serviceProviderOrganization'), context);
	if (provider !== undefined) initial['serviceProvider'] = provider;
}

/** Visit numbers are keys; a longer one is left out. */
function visitNumber(id: XmlElement, context: Context): Identifier | undefined {
	const number = uncheckedIdentifier(id, context);
	if (number === undefined || number.value.length + String(number['system'] ?? '').length <= keyLengthMax) return number;
	context.unreadable(id, `has more than ${keyLengthMax} characters and was left out`);
	return undefined;
}

/** A code of ActEncounterCode, or a translation into it, is the class; any other is the type. */
function addClass(initial: JsonObject, encounter: XmlElement): void {
	const code = encounter.first('code');
	const concept = code && codeableConcept(code);
	const found = concept?.coding?.find((coding) => coding.system === actCode && classes.has(coding.code ?? ''));
	if (found) initial['class'] = found;
	if (concept && found !== concept.coding?.[0]) initial['type'] = [concept];
}
