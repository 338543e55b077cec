import type { Json, JsonObject } from '#core/json.ts';

import { isOid } from '#fhir/mapping/authority.ts';
import { driversLicence, identifierList, setBirth, setPreciseOrBare, socialSecurityNumber } from '#fhir/mapping/patient.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { Identifier, ResourcePatch } from '#record/resource-patch.ts';
import { type Context, failureAt } from './context.ts';
import { addresses } from './datatypes/ad.ts';
import { codeableConcept } from './datatypes/cd.ts';
import { namesOf } from './datatypes/en.ts';
import { identifiers, statedAuthorities } from './datatypes/ii.ts';
import { contactPoints } from './datatypes/tel.ts';
import { flag, time, valueIn } from './datatypes/ts.ts';
import type { XmlElement } from './element.ts';
import { patientExtensions } from './patient-extensions.ts';

/**
 * The patient of a registration event (PRPA_MT201301UV02.Patient), as a snapshot of what it states: what is absent or has
 * a nullFlavor stays as it is, a value replaces.
 * @throws Failure no id; birthTime not a date where the demographics are the message's purpose
 */
export function patientChange(patient: XmlElement, ref: number, known: PatientChange['known'], context: Context): PatientChange {
	const person = patient.first('patientPerson');
	const own = requiredIdentifiers(patient, [...patient.children('id'), ...(person?.children('id') ?? [])], context);
	const other = otherIdentifiers(person, context);
	const parts: ResourcePatch['parts'] = {
		identifier: { 'PID-3': identifierList([...own, ...other.plain]), ...other.parts },
	};
	const elements: Record<string, Json> = {};
	if (person) addPerson({ elements, parts }, personElements(person, context), known === 'update', context);
	const change: PatientChange = { kind: 'patient', ref, identifiers: own, patch: { elements, parts }, known, sequence: 1 };
	const security = confidentiality(patient);
	if (security) change.security = security;
	if (context.defaultAuthority !== undefined) change.authority = context.defaultAuthority;
	const authorities = statedAuthorities([...patient.children('id'), ...(person?.children('id') ?? [])]);
	if (authorities.length > 0) change.authorities = authorities;
	const location = patient.first('id');
	if (location) change.expression = location.path;
	return change;
}

/** @throws Failure `required-field-missing` when none of the ids has a value */
export function requiredIdentifiers(role: XmlElement, ids: readonly XmlElement[], context: Context): [Identifier, ...Identifier[]] {
	const [first, ...others] = identifiers(ids, context);
	if (first !== undefined) return [first, ...others];
	throw failureAt('required-field-missing', ids[0] ?? role, `${role.name} has no id with a root or an extension`);
}

const ssnRoot = '2.16.840.1.113883.4.1';
/** The states of the United States number their licences under this one. */
const licenceRoot = '2.16.840.1.113883.4.3';

export interface OtherIdentifiers {
	plain: Identifier[];
	parts: Record<string, JsonObject[]>;
}

/** asOtherIDs: numbers that others gave the person. */
function otherIdentifiers(person: XmlElement | undefined, context: Context): OtherIdentifiers {
	const found: OtherIdentifiers = { plain: [], parts: {} };
	for (const role of person?.children('asOtherIDs') ?? []) {
		const organization = role.first('scopingOrganization', 'name')?.text ?? '';
		addOtherIdentifiers(found, role.children('id'), context, organization);
	}
	return found;
}

/** Sorts out ids whose root tells what kind of number they are: those of FHIR's own parts go there. */
export function addOtherIdentifiers(found: OtherIdentifiers, ids: readonly XmlElement[], context: Context, assigner = ''): void {
	for (const id of ids) {
		for (const item of identifiers([id], context, assigner)) {
			const root = id.attribute('root');
			if (root === ssnRoot) addTo(found.parts, 'SS', socialSecurityNumber(item.value));
			else if (root.startsWith(`${licenceRoot}.`) && isOid(root)) {
				addTo(found.parts, 'DL', driversLicence(item.value, `urn:oid:${root}`));
			} else found.plain.push(item);
		}
	}
}

function addTo(parts: Record<string, JsonObject[]>, part: string, item: JsonObject): void {
	parts[part] = [...(parts[part] ?? []), item];
}

/** Facts about a person, wherever the format states them. */
export interface PersonElements {
	names: readonly XmlElement[];
	birthTime: XmlElement | undefined;
	gender: XmlElement | undefined;
	addresses: readonly XmlElement[];
	/** Each with a languageCode. */
	languages: readonly XmlElement[];
	maritalStatus: XmlElement | undefined;
	multipleBirth: { order: XmlElement | undefined; indicator: XmlElement | undefined };
	deceased: { time: XmlElement | undefined; indicator: XmlElement | undefined };
	telecoms: readonly XmlElement[];
	/** Extensions by URL. */
	extension: ResourcePatch['parts'][string] | undefined;
}

function personElements(person: XmlElement, context: Context): PersonElements {
	return {
		names: person.children('name'),
		birthTime: person.first('birthTime'),
		gender: person.first('administrativeGenderCode'),
		addresses: person.children('addr'),
		languages: person.children('languageCommunication'),
		maritalStatus: person.first('maritalStatusCode'),
		multipleBirth: { order: person.first('multipleBirthOrderNumber'), indicator: person.first('multipleBirthInd') },
		deceased: { time: person.first('deceasedTime'), indicator: person.first('deceasedInd') },
		telecoms: person.children('telecom'),
		extension: patientExtensions(person, context),
	};
}

/** @throws Failure birthTime not a date, where `isStrict`; else that is flagged */
export function addPerson({ elements, parts }: ResourcePatch, person: PersonElements, isStrict: boolean, context: Context): void {
	setList(elements, 'name', namesOf(person.names, context));
	birth(elements, person.birthTime, isStrict, context);
	gender(elements, person.gender, context);
	setList(elements, 'address', addresses(person.addresses, context));
	setList(elements, 'communication', languages(person.languages, context));
	const { maritalStatus: marital, deceased } = person;
	const maritalStatus = marital && codeableConcept(marital, maritalStatusSystem);
	if (maritalStatus) elements['maritalStatus'] = maritalStatus;
	multipleBirth(elements, person.multipleBirth, context);
	setPreciseOrBare(elements, {
		precise: { element: 'deceasedDateTime', value: time(deceased.time, context) },
		bare: { element: 'deceasedBoolean', value: flag(deceased.indicator, context) },
	});
	const telecom = contactPoints(person.telecoms, context);
	if (telecom.length > 0) parts['telecom'] = { all: telecom };
	if (person.extension) parts['extension'] = person.extension;
}

function setList(elements: Record<string, Json>, element: string, list: readonly JsonObject[]): void {
	if (list.length > 0) elements[element] = [...list];
}

function birth(elements: Record<string, Json>, element: XmlElement | undefined, isStrict: boolean, context: Context): void {
	const text = valueIn(element);
	if (element === undefined || text === undefined || setBirth(elements, text, context.zone)) return;
	if (isStrict) throw failureAt('data-type', element, 'birthTime is not a date (YYYY[MM[DD[HH[MM[SS]]]]])');
	context.unreadable(element, 'is not a date and was left out');
}

/** AdministrativeGender (2.16.840.1.113883.5.1). */
const genders: Readonly<Record<string, string>> = { F: 'female', M: 'male', UN: 'other' };

/** A code that the vocabulary does not have is flagged and read as unknown. */
function gender(elements: Record<string, Json>, element: XmlElement | undefined, context: Context): void {
	const code = element === undefined || element.isNull ? '' : element.attribute('code').toUpperCase();
	if (element === undefined || code === '') return;
	const found = entryOf(genders, code);
	if (found === undefined) context.unreadable(element, 'has a code that AdministrativeGender does not list; read as unknown');
	elements['gender'] = found ?? 'unknown';
}

const maritalStatusSystem = 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus';

/** The order of birth says more than the indicator; FHIR has room for one of them. */
function multipleBirth(
	elements: Record<string, Json>,
	{ order: element, indicator }: PersonElements['multipleBirth'],
	context: Context,
): void {
	const text = valueIn(element);
	const order = text !== undefined && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined;
	if (element && text !== undefined && order === undefined) context.unreadable(element, 'is not an order of birth and was left out');
	setPreciseOrBare(elements, {
		precise: { element: 'multipleBirthInteger', value: order },
		bare: { element: 'multipleBirthBoolean', value: flag(indicator, context) },
	});
}

/** BCP 47 as far as senders write it: `en`, `en-US`. */
export const languageTag = /^[a-z]{2,3}(?:-[A-Z]{2})?$/;

function languages(communications: readonly XmlElement[], context: Context): JsonObject[] {
	return communications.flatMap((communication) => {
		const code = communication.first('languageCode');
		const language = code && codeableConcept(code, languageTag.test(code.attribute('code')) ? 'urn:ietf:bcp:47' : '');
		if (language === undefined) return [];
		const preferred = flag(communication.first('preferenceInd'), context);
		return [preferred === undefined ? { language } : { language, preferred }];
	});
}

export const confidentialitySystem = 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality';

/** confidentialityCode as security labels; undefined when nothing is said. */
function confidentiality(patient: XmlElement): JsonObject[] | undefined {
	const labels = patient
		.children('confidentialityCode')
		.map((code) => codeableConcept(code, confidentialitySystem)?.coding?.[0])
		.filter((label) => label !== undefined);
	return labels.length === 0 ? undefined : labels;
}
