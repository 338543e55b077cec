import type { Inclusion } from '#record/search-plan.ts';
import type { ResourceDefinition } from './resource.ts';
import { resources } from './resources/index.ts';
import { commonParameters } from './search/parameter.ts';
import { inclusionsBy } from './search/result.ts';

export interface Implementation {
	version: string;
	base: string;
	/** The date on which this version's capabilities last changed: the FHIR date of the build. */
	date: string;
	/** True where an update of an existing resource has to name its version. */
	ifMatchRequired: boolean;
}

/** Builds the CapabilityStatement (FHIR R4 §5.2) from the resource definitions, so it claims exactly what they serve. */
export function capabilityStatement({ version, base, date, ifMatchRequired }: Implementation): string {
	return JSON.stringify({
		resourceType: 'CapabilityStatement',
		status: 'active',
		date,
		kind: 'instance',
		software: { name: 'Tributary', version },
		implementation: { description: 'Tributary clinical data integration', url: base },
		instantiates: ['http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data'],
		fhirVersion: '4.0.1',
		format: ['application/fhir+json', 'json'],
		patchFormat: ['application/json-patch+json'],
		rest: [
			{
				mode: 'server',
				security: {
					description: 'Send an API key in the header X-API-Key. A key belongs to one site, and a request reads and writes only that site.',
				},
				resource: [...Object.values(resources).map((definition) => restResource(definition, ifMatchRequired)), binary],
				interaction: [{ code: 'transaction' }, { code: 'batch' }],
				operation: [{ name: 'export', definition: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/export' }],
			},
		],
	});
}

/** The bytes of documents. The sender of a document writes them, and they are read by the URL in its DocumentReference. */
const binary = {
	type: 'Binary',
	profile: 'http://hl7.org/fhir/StructureDefinition/Binary',
	documentation: 'Returns the bytes with their own media type, or the resource with Accept: application/fhir+json.',
	interaction: [{ code: 'read' }],
	versioning: 'no-version',
	readHistory: false,
	updateCreate: false,
	conditionalCreate: false,
	conditionalUpdate: false,
	conditionalDelete: 'not-supported',
};

/** Operations beside the interactions. Each is served for the types that it lists. */
export const operations: readonly { name: string; definition: string; types: (definition: ResourceDefinition) => boolean }[] = [
	{
		name: 'validate',
		definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
		types: () => true,
	},
	{ name: 'everything', definition: 'http://hl7.org/fhir/OperationDefinition/Patient-everything', types: ({ type }) => type === 'Patient' },
	{
		name: 'export',
		definition: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/patient-export',
		types: ({ type }) => type === 'Patient',
	},
];

function restResource(definition: ResourceDefinition, ifMatchRequired: boolean): object {
	const { type, profile, interactions } = definition;
	const writable = interactions.includes('create');
	const served = operations
		.filter((operation) => operation.types(definition))
		.map(({ name, definition: url }) => ({ name, definition: url }));
	return {
		type,
		profile,
		interaction: interactions.map((code) => ({ code })),
		versioning: writable && ifMatchRequired ? 'versioned-update' : 'versioned',
		readHistory: interactions.includes('history-instance'),
		updateCreate: writable,
		conditionalCreate: writable,
		conditionalRead: 'full-support',
		conditionalUpdate: writable,
		conditionalDelete: 'not-supported',
		referencePolicy: ['literal', 'logical', ...(writable ? ['enforced'] : [])],
		...listed('searchInclude', includesOf(definition)),
		...listed('searchRevInclude', reverseIncludesOf(definition)),
		searchParam: Object.entries({ ...commonParameters, ...definition.search }).map(([name, { type: kind, documentation }]) => ({
			name,
			type: kind,
			documentation,
		})),
		...listed('operation', served),
	};
}

function listed(name: string, items: readonly unknown[]): object {
	return items.length === 0 ? {} : { [name]: items };
}

/** The values of `_include` by which a search of the type finds something. */
export function includesOf(definition: ResourceDefinition): string[] {
	return included(definition, 'forward', definition);
}

/** The values of `_revinclude` by which a search of the type finds something. */
export function reverseIncludesOf(definition: ResourceDefinition): string[] {
	return Object.values(resources).flatMap((source) => included(definition, 'reverse', source));
}

function included(definition: ResourceDefinition, direction: Inclusion['direction'], source: ResourceDefinition): string[] {
	return Object.entries(source.search).flatMap(([name, parameter]) =>
		inclusionsBy(parameter, { definition, direction, source }).length === 0 ? [] : [`${source.type}:${name}`],
	);
}
