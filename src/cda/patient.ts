import type { JsonObject } from '#core/json.ts';
import type { Extension } from '#fhir/datatypes.ts';
import { cdcRaceAndEthnicity, ethnicityExtensions, ethnicityUrl, raceExtensions, raceUrl } from '#fhir/mapping/categories.ts';
import { identifierList, patientExtensionUrls } from '#fhir/mapping/patient.ts';
import type { Context } from '#hl7v3/context.ts';
import { addresses } from '#hl7v3/datatypes/ad.ts';
import { codeableConcept, codeableConcepts } from '#hl7v3/datatypes/cd.ts';
import { namesOf } from '#hl7v3/datatypes/en.ts';
import { statedAuthorities } from '#hl7v3/datatypes/ii.ts';
import { contactPoints } from '#hl7v3/datatypes/tel.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import { addOtherIdentifiers, addPerson, type OtherIdentifiers, type PersonElements, requiredIdentifiers } from '#hl7v3/patient.ts';
import { birthPlaceOf, religion } from '#hl7v3/patient-extensions.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { organizationName } from './participant.ts';
import { extensionsOf } from './sdtc.ts';

/**
 * recordTarget/patientRole (CDA R2 §4.2.2.11), as a snapshot of what it states of the patient.
 * @throws Failure none of its ids has a value
 */
export function patientChange(role: XmlElement, ref: number, context: Context): PatientChange {
	const { own, others } = patientIdentifiers(role, context);
	const parts: PatientChange['patch']['parts'] = { identifier: { 'PID-3': identifierList(own), ...others.parts } };
	const patch: PatientChange['patch'] = { elements: {}, parts };
	addPerson(patch, personElements(role, context), false, context);
	const contacts = guardians(role, context);
	if (contacts.length > 0) parts['contact'] = { [guardianPart]: contacts };
	const change: PatientChange = { kind: 'patient', ref, identifiers: own, patch, known: 'update', sequence: 1 };
	change.expression = (role.first('id') ?? role).path;
	if (context.defaultAuthority !== undefined) change.authority = context.defaultAuthority;
	const authorities = statedAuthorities(role.children('id'));
	if (authorities.length > 0) change.authorities = authorities;
	return change;
}

interface PatientIdentifiers {
	own: [Identifier, ...Identifier[]];
	others: OtherIdentifiers;
}

/** Social security numbers and licences identify the patient only where there is nothing else. */
function patientIdentifiers(role: XmlElement, context: Context): PatientIdentifiers {
	const others: OtherIdentifiers = { plain: [], parts: {} };
	addOtherIdentifiers(others, role.children('id'), context);
	const [first, ...further] = others.plain;
	if (first !== undefined) return { own: [first, ...further], others };
	return { own: requiredIdentifiers(role, role.children('id'), context), others: { plain: [], parts: {} } };
}

function personElements(role: XmlElement, context: Context): PersonElements {
	const person = role.first('patient');
	return {
		names: person?.children('name') ?? [],
		birthTime: person?.first('birthTime'),
		gender: person?.first('administrativeGenderCode'),
		addresses: role.children('addr'),
		languages: person?.children('languageCommunication') ?? [],
		maritalStatus: person?.first('maritalStatusCode'),
		multipleBirth: {
			order: extensionsOf(person, 'multipleBirthOrderNumber')[0],
			indicator: extensionsOf(person, 'multipleBirthInd')[0],
		},
		deceased: { time: extensionsOf(person, 'deceasedTime')[0], indicator: extensionsOf(person, 'deceasedInd')[0] },
		telecoms: role.children('telecom'),
		extension: person && patientExtensions(person, context),
	};
}

function patientExtensions(person: XmlElement, context: Context): PersonElements['extension'] {
	const { religion: religionUrl, birthPlace: birthPlaceUrl } = patientExtensionUrls;
	const place = person.first('birthplace', 'place');
	const races = [...person.children('raceCode'), ...extensionsOf(person, 'raceCode')];
	const ethnicities = [...person.children('ethnicGroupCode'), ...extensionsOf(person, 'ethnicGroupCode')];
	const lists: [url: string, list: Extension[]][] = [
		[raceUrl, raceExtensions(codeableConcepts(races, cdcRaceAndEthnicity))],
		[religionUrl, religion(person, religionUrl)],
		[ethnicityUrl, ethnicityExtensions(codeableConcepts(ethnicities, cdcRaceAndEthnicity))],
		[birthPlaceUrl, birthPlaceOf(place?.first('addr'), place?.first('name'), birthPlaceUrl, context)],
	];
	const stated = lists.filter(([, list]) => list.length > 0);
	return stated.length === 0 ? undefined : Object.fromEntries(stated);
}

/** The part of Patient.contact that documents state; the element ids name it. */
const guardianPart = 'GRD';
const guardianRole = {
	coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-RoleCode', code: 'GUARD', display: 'guardian' }],
};

/** patient/guardian: a person or an organization. */
function guardians(role: XmlElement, context: Context): JsonObject[] {
	const list: JsonObject[] = [];
	for (const guardian of role.first('patient')?.children('guardian') ?? []) {
		const name = namesOf(guardian.all('guardianPerson', 'name'), context)[0];
		const organization = organizationName(guardian.first('guardianOrganization'));
		const telecom = contactPoints(guardian.children('telecom'), context);
		const [address] = addresses(guardian.children('addr'), context);
		if (name === undefined && organization === '' && telecom.length === 0 && address === undefined) continue;
		const code = guardian.first('code');
		const relation = code && codeableConcept(code);
		list.push({
			id: `${guardianPart}.${list.length + 1}`,
			relationship: relation === undefined ? [guardianRole] : [guardianRole, relation],
			...(name === undefined ? {} : { name }),
			...(telecom.length === 0 ? {} : { telecom }),
			...(address === undefined ? {} : { address }),
			...(organization === '' ? {} : { organization: { type: 'Organization', display: organization } }),
		});
	}
	return list;
}
