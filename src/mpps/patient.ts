import type { JsonObject } from '#core/json.ts';
import { dateOf, namePartsOf, sexOf } from '#dicom/values.ts';
import type { InstancePatient } from '#record/instance.ts';
import { isObject, itemsAt, textAt, valuesOf } from './elements.ts';
import { tags } from './facts.ts';

/** Returns the patient whom a procedure step names, as an image would name them; undefined without a Patient ID. */
export function patientIn(attributes: JsonObject): InstancePatient | undefined {
	const id = textAt(attributes, tags.patientId);
	if (id === undefined) return undefined;
	const [qualifiers = {}] = itemsAt(attributes, tags.issuerQualifiers);
	const universal = textAt(qualifiers, tags.universalEntityId);
	return {
		id,
		issuer: textAt(attributes, tags.issuerOfPatientId) ?? universal,
		...(universal !== undefined && { universalIssuer: { id: universal, type: textAt(qualifiers, tags.universalEntityIdType) ?? '' } }),
		name: namePartsOf(wholeNameAt(attributes, tags.patientName)),
		birthDate: dateOf(textAt(attributes, tags.patientBirthDate) ?? ''),
		gender: sexOf(textAt(attributes, tags.patientSex) ?? ''),
	};
}

/** Tells whether two states of a step name the same person: the later one says nothing new about who that is. */
export function namesSame(before: JsonObject, after: JsonObject): boolean {
	return JSON.stringify(patientIn(before)) === JSON.stringify(patientIn(after));
}

/** Tells whether a later state of a step has another number of the patient than one that is known, which is seldom a correction. */
export function namesOther(before: JsonObject, after: JsonObject): boolean {
	const [held, stated] = [patientIn(before)?.id ?? '', patientIn(after)?.id ?? ''];
	return held !== '' && held !== stated;
}

/** The component groups of a PN in the DICOM JSON Model (PS3.18 F.2.2) as one text. */
function wholeNameAt(attributes: JsonObject, tag: string): string {
	const first = valuesOf(attributes, tag)?.[0];
	if (!isObject(first)) return textAt(attributes, tag) ?? '';
	const groups = ['Alphabetic', 'Ideographic', 'Phonetic'].map((group) => first[group]);
	return groups.map((group) => (typeof group === 'string' ? group : '')).join('=');
}
