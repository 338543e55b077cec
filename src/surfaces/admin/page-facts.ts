import { optionalTriggers } from '#hl7v2/events/index.ts';

/** What the page of the console is told by its meta elements. */
export function pageFacts(fhirPort: number): Readonly<Record<string, string>> {
	return { 'fhir-port': String(fhirPort), 'hl7v2-optional-events': optionalTriggers.join(', ') };
}
