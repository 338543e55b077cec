/** https://hl7.org/fhir/R4/extension-iso21090-en-representation.html */
export const representationUrl = 'http://hl7.org/fhir/StructureDefinition/iso21090-EN-representation';

/** How a name is written: in letters, in ideograms, or in characters that say how it is spoken. */
export type NameRepresentation = 'ABC' | 'IDE' | 'SYL';

/** Returns the member of a HumanName that says how it is written. */
export function representation(valueCode: NameRepresentation): { extension: { url: string; valueCode: string }[] } {
	return { extension: [{ url: representationUrl, valueCode }] };
}
