import type { ResourceDefinition } from './resource.ts';
import { resources } from './resources/index.ts';
import { commonParameters } from './search/parse.ts';

export interface Implementation {
	version: string;
	base: string;
	/** When this version's capabilities last changed: the FHIR date of the build. */
	date: string;
}

/** The CapabilityStatement (FHIR R4 §5.2), derived from the resource definitions: it claims what they serve and no more. */
export function capabilityStatement({ version, base, date }: Implementation): string {
	return JSON.stringify({
		resourceType: 'CapabilityStatement',
		status: 'active',
		date,
		kind: 'instance',
		software: { name: 'Tributary', version },
		implementation: { description: 'Tributary clinical data integration', url: base },
		fhirVersion: '4.0.1',
		format: ['application/fhir+json', 'json'],
		rest: [
			{
				mode: 'server',
				security: { description: 'Header X-API-Key; a key belongs to one site, and every request is carried out inside that site.' },
				resource: Object.values(resources).map((definition) => restResource(definition)),
			},
		],
	});
}

function restResource(definition: ResourceDefinition): object {
	return {
		type: definition.type,
		profile: definition.profile,
		interaction: definition.interactions.map((code) => ({ code })),
		versioning: 'versioned',
		readHistory: false,
		updateCreate: false,
		conditionalRead: 'not-match',
		searchParam: Object.entries({ ...commonParameters, ...definition.search }).map(([name, { type, documentation }]) => ({
			name,
			type,
			documentation,
		})),
	};
}
