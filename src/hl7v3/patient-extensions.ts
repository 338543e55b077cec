import type { Extension } from '#fhir/datatypes.ts';
import { cdcRaceAndEthnicity, ethnicityExtensions, ethnicityUrl, raceExtensions, raceUrl } from '#fhir/mapping/categories.ts';
import { patientExtensionUrls } from '#fhir/mapping/patient.ts';
import type { ResourcePatch } from '#record/resource-patch.ts';
import type { Context } from './context.ts';
import { address } from './datatypes/ad.ts';
import { codeableConcept, codeableConcepts } from './datatypes/cd.ts';
import { namesOf } from './datatypes/en.ts';
import type { XmlElement } from './element.ts';

const religionSystem = 'http://terminology.hl7.org/CodeSystem/v3-ReligiousAffiliation';

/** FHIR R4 keeps these facts of a person as extensions of Patient; each has its url. */
const readers: Readonly<Record<string, (person: XmlElement, url: string, context: Context) => Extension[]>> = {
	[patientExtensionUrls.mothersMaidenName]: mothersMaidenName,
	[raceUrl]: (person) => raceExtensions(codeableConcepts(person.children('raceCode'), cdcRaceAndEthnicity)),
	[patientExtensionUrls.religion]: religion,
	[ethnicityUrl]: (person) => ethnicityExtensions(codeableConcepts(person.children('ethnicGroupCode'), cdcRaceAndEthnicity)),
	[patientExtensionUrls.birthPlace]: birthPlace,
	[patientExtensionUrls.citizenship]: citizenship,
};

export function patientExtensions(person: XmlElement, context: Context): ResourcePatch['parts'][string] | undefined {
	let parts: ResourcePatch['parts'][string] | undefined;
	for (const url in readers) {
		const list = readers[url]?.(person, url, context) ?? [];
		if (list.length === 0) continue;
		parts ??= {};
		parts[url] = list;
	}
	return parts;
}

/**
 * The mother's name at birth: her family name, else the whole name (IHE ITI-44 carries the mother's maiden name so). What
 * is said of other persons has no place in the patient.
 */
function mothersMaidenName(person: XmlElement, url: string, context: Context): Extension[] {
	const found: Extension[] = [];
	for (const relationship of person.children('personalRelationship')) {
		const isMother = relationship.first('code')?.attribute('code') === 'MTH';
		const holder = relationship.first('relationshipHolder1');
		const names = isMother && holder ? namesOf(holder.children('name'), context) : [];
		const name = names.find(({ use }) => use === 'maiden') ?? names[0];
		const valueString = name?.family ?? name?.text;
		if (valueString !== undefined && found.length === 0) found.push({ url, valueString });
		else if (!isMother) context.skipped(relationship, 'of related persons the name of the mother is kept');
	}
	return found;
}

export function religion(person: XmlElement, url: string): Extension[] {
	const element = person.first('religiousAffiliationCode');
	const concept = element && codeableConcept(element, religionSystem);
	return concept === undefined ? [] : [{ url, valueCodeableConcept: concept }];
}

/** The address of the place, else its name. */
function birthPlace(person: XmlElement, url: string, context: Context): Extension[] {
	const role = person.first('birthPlace');
	return birthPlaceOf(role?.first('addr') ?? role?.first('birthplace', 'addr'), role?.first('birthplace', 'name'), url, context);
}

export function birthPlaceOf(addr: XmlElement | undefined, name: XmlElement | undefined, url: string, context: Context): Extension[] {
	const text = name?.text ?? '';
	const valueAddress = (addr && address(addr, context)) ?? (text === '' ? undefined : { text });
	return valueAddress === undefined ? [] : [{ url, valueAddress }];
}

function citizenship(person: XmlElement, url: string): Extension[] {
	const codes = person.all('asCitizen', 'politicalNation', 'code');
	return codeableConcepts(codes).map((concept) => ({ url, extension: [{ url: 'code', valueCodeableConcept: concept }] }));
}
