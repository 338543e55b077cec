import type { CodeableConcept, Coding, Extension } from '../datatypes.ts';
import { entryOf } from './table.ts';

const usCore = 'http://hl7.org/fhir/us/core/StructureDefinition/';
export const raceUrl = `${usCore}us-core-race`;
export const ethnicityUrl = `${usCore}us-core-ethnicity`;
export const cdcRaceAndEthnicity = 'urn:oid:2.16.840.1.113883.6.238';

/** The five categories of the Office of Management and Budget; table 0005 uses the same codes. */
const raceCategories: ReadonlySet<string> = new Set(['1002-5', '2028-9', '2054-5', '2076-8', '2106-3']);
const ethnicityCategories: ReadonlySet<string> = new Set(['2135-2', '2186-5']);
/** Table 0189. */
const ethnicityOf: Readonly<Record<string, Coding>> = {
	H: { system: cdcRaceAndEthnicity, code: '2135-2', display: 'Hispanic or Latino' },
	N: { system: cdcRaceAndEthnicity, code: '2186-5', display: 'Not Hispanic or Latino' },
};

/** The us-core-race extension; none without concepts. */
export function raceExtensions(concepts: readonly CodeableConcept[]): Extension[] {
	return categories(concepts, raceUrl, (coding) => (isCdcCode(coding.code) ? categorized(coding, raceCategories) : undefined));
}

/** The us-core-ethnicity extension; none without concepts. */
export function ethnicityExtensions(concepts: readonly CodeableConcept[]): Extension[] {
	return categories(concepts, ethnicityUrl, (coding) => {
		const translated = coding.code === undefined ? undefined : entryOf(ethnicityOf, coding.code);
		if (translated) return { url: 'ombCategory', valueCoding: translated };
		return isCdcCode(coding.code) ? categorized(coding, ethnicityCategories) : undefined;
	});
}

function isCdcCode(code: string | undefined): boolean {
	return code !== undefined && /^\d{4}-\d$/.test(code);
}

function categorized(coding: Coding, ombCodes: ReadonlySet<string>): Extension {
	const valueCoding: Coding = { ...coding, system: cdcRaceAndEthnicity };
	return { url: ombCodes.has(coding.code ?? '') ? 'ombCategory' : 'detailed', valueCoding };
}

/** Builds one extension for the whole field. `text` is required there, so codes that are not the CDC's are kept in it. */
function categories(concepts: readonly CodeableConcept[], url: string, read: (coding: Coding) => Extension | undefined): Extension[] {
	if (concepts.length === 0) return [];
	const extension: Extension[] = [];
	const texts: string[] = [];
	for (const concept of concepts) {
		const coding = concept.coding?.[0];
		const category = coding && read(coding);
		if (category) extension.push(category);
		texts.push(concept.text ?? category?.valueCoding?.display ?? coding?.code ?? '');
	}
	extension.push({ url: 'text', valueString: texts.filter((text) => text !== '').join(', ') });
	return [{ url, extension }];
}
