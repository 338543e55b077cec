import { optionalTriggers } from '#hl7v2/events/index.ts';

/** Returns the facts that the console page receives in its meta elements. */
export function pageFacts(fhirPort: number): Readonly<Record<string, string>> {
	return { 'fhir-port': String(fhirPort), 'hl7v2-optional-events': optionalTriggers.join(', ') };
}
