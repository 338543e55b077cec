import { optionalTriggers } from '#hl7v2/events/index.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';

/** Returns the facts that the console page receives in its meta elements. A port that is off is empty. */
export function pageFacts(addresses: Readonly<Record<string, SurfaceAddress>>): Readonly<Record<string, string>> {
	const port = (name: string) => String(addresses[name]?.port ?? '');
	return {
		'fhir-port': port('fhir'),
		'hl7-port': port('hl7'),
		'mllp-port': port('mllp'),
		'dimse-port': port('dimse'),
		'hl7v2-optional-events': optionalTriggers.join(', '),
	};
}
