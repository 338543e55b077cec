/** Reads a value that the service wrote into the page. */
export function pageFact(name: 'fhir-port' | 'hl7-port' | 'mllp-port' | 'dimse-port' | 'hl7v2-optional-events'): string {
	return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}
