import type { Inclusion } from '#record/search-plan.ts';
import { compartments } from './compartment.ts';
import { type Interaction, type ResourceDefinition, type SearchParameter, writeInteractions } from './resource.ts';
import { resources } from './resources/index.ts';
import { smartCapabilities } from './scopes.ts';
import { commonParameters } from './search/parameter.ts';
import { inclusionsBy } from './search/result.ts';

export interface Implementation {
	version: string;
	base: string;
	/** The date on which this version's capabilities last changed: the FHIR date of the build. */
	date: string;
	policy: WritePolicy;
	/** The endpoints of the provider whose access tokens are taken. Undefined where there is none. */
	authorization: { token: string; introspect: string | undefined } | undefined;
}

/** The site decides this about writes, and the statement tells it. */
export interface WritePolicy {
	/** True where a write of an existing resource has to name its version. */
	ifMatchRequired: boolean;
	/** True where clients may delete. */
	deletes: boolean;
}

/** Builds the CapabilityStatement (FHIR R4 §5.2) from the resource definitions, so it claims exactly what they serve. */
export function capabilityStatement({ version, base, date, policy, authorization }: Implementation): string {
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
				documentation: [
					'Every value of searchInclude and searchRevInclude, of any resource type, is also taken by _include:iterate and _revinclude:iterate.',
					'A reference to a Patient in a write has to be one of the site, unless the site switches that off. Other references are kept as they are, whether the resource is there or not.',
				].join(' '),
				security: security(authorization),
				resource: restResources(policy),
				interaction: [{ code: 'transaction' }, { code: 'batch' }, { code: 'history-system' }, { code: 'search-system' }],
				searchParam: [
					...searchParams(commonParameters),
					{ name: '_type', type: 'special', documentation: 'The resource types to search, separated by commas; all without it' },
				],
				compartment: compartments.map((name) => `http://hl7.org/fhir/CompartmentDefinition/${name.toLowerCase()}`),
				operation: [{ name: 'export', definition: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/export' }],
			},
		],
	});
}

const stated = new Map<string, readonly object[]>();

/** The list of types is made once: which parameters of all types include one another takes tens of milliseconds to find out. */
function restResources(policy: WritePolicy): readonly object[] {
	const name = JSON.stringify([policy.ifMatchRequired, policy.deletes]);
	let list = stated.get(name);
	if (list === undefined) {
		list = Object.values(resources).map((definition) => restResource(definition, policy));
		stated.set(name, list);
	}
	return list;
}

const smart = 'http://fhir-registry.smarthealthit.org/StructureDefinition';

/** SMART App Launch 1.0 reads endpoints and capabilities here; later versions read `.well-known/smart-configuration`. */
function security(authorization: Implementation['authorization']): object {
	const byKey = 'Send an API key in the header X-API-Key';
	const oneSite = 'belongs to one site, and a request reads and writes only that site.';
	const limited = 'A key may be limited to scopes: read for interactions that read, write for those that change the record.';
	if (authorization === undefined) return { description: `${byKey}. A key ${oneSite} ${limited}` };
	const { token, introspect } = authorization;
	const uris = [{ url: 'token', valueUri: token }, ...(introspect === undefined ? [] : [{ url: 'introspect', valueUri: introspect }])];
	return {
		extension: [
			{ url: `${smart}/oauth-uris`, extension: uris },
			...smartCapabilities.map((valueCode) => ({ url: `${smart}/capabilities`, valueCode })),
		],
		service: [
			{
				coding: [
					{ system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'SMART-on-FHIR', display: 'SMART-on-FHIR' },
				],
				text: 'OAuth2 using SMART-on-FHIR profile (see http://docs.smarthealthit.org)',
			},
		],
		description: `${byKey}, or an access token in the header Authorization. A key or token ${oneSite} ${limited}`,
	};
}

const documentations: Partial<Record<string, string>> = {
	Subscription: 'A Subscription is stored and found like any other resource. No notification is sent for it.',
	Binary:
		'Returns the bytes with their own media type, or the resource with Accept: application/fhir+json. A body of any other media type is stored as it is. The bytes of documents that messages brought are read here too.',
};

/** Operations beside the interactions. Each is served for the types that it lists. */
export const operations: readonly { name: string; definition: string; types: (definition: Pick<ResourceDefinition, 'type'>) => boolean }[] =
	[
		{
			name: 'validate',
			definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
			types: () => true,
		},
		...(['ValueSet-expand', 'ValueSet-validate-code', 'CodeSystem-lookup', 'CodeSystem-validate-code'] as const).map((operation) => ({
			name: operation.slice(operation.indexOf('-') + 1),
			definition: `http://hl7.org/fhir/OperationDefinition/${operation}`,
			types: ({ type }: Pick<ResourceDefinition, 'type'>) => operation.startsWith(`${type}-`),
		})),
		{
			name: 'everything',
			definition: 'http://hl7.org/fhir/OperationDefinition/Patient-everything',
			types: ({ type }) => type === 'Patient',
		},
		{
			name: 'match',
			definition: 'http://hl7.org/fhir/OperationDefinition/Patient-match',
			types: ({ type }) => type === 'Patient',
		},
		{
			name: 'lastn',
			definition: 'http://hl7.org/fhir/OperationDefinition/Observation-lastn',
			types: ({ type }) => type === 'Observation',
		},
		{
			name: 'docref',
			definition: 'http://hl7.org/fhir/us/core/OperationDefinition/docref',
			types: ({ type }) => type === 'DocumentReference',
		},
		{
			name: 'export',
			definition: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/patient-export',
			types: ({ type }) => type === 'Patient',
		},
		{
			name: 'export',
			definition: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export',
			types: ({ type }) => type === 'Group',
		},
	];

function restResource(definition: ResourceDefinition, { ifMatchRequired, deletes }: WritePolicy): object {
	const { type, profile } = definition;
	const interactions = definition.interactions.filter((interaction) => deletes || interaction !== 'delete');
	const writable = interactions.includes('create');
	return {
		type,
		profile,
		...(documentations[type] === undefined ? {} : { documentation: documentations[type] }),
		interaction: interactions.map((code) => ({ code, ...conditionOf(definition, code) })),
		versioning: writable && ifMatchRequired ? 'versioned-update' : 'versioned',
		readHistory: interactions.includes('history-instance'),
		updateCreate: writable,
		conditionalCreate: writable,
		conditionalRead: 'full-support',
		conditionalUpdate: writable,
		conditionalDelete: interactions.includes('delete') ? 'single' : 'not-supported',
		// Only references to patients are enforced, which no code of ReferenceHandlingPolicy says. The documentation of `rest` does.
		referencePolicy: ['literal', 'logical'],
		...listed('searchInclude', includesOf(definition)),
		...listed('searchRevInclude', reverseIncludesOf(definition)),
		searchParam: searchParams({ ...commonParameters, ...definition.search }),
		...listed('operation', operationsOf(definition)),
	};
}

function searchParams(parameters: Readonly<Record<string, SearchParameter>>): object[] {
	return Object.entries(parameters).map(([name, { type, documentation }]) => ({ name, type, documentation }));
}

function operationsOf(served: ResourceDefinition): object[] {
	return operations.filter(({ types }) => types(served)).map(({ name, definition }) => ({ name, definition }));
}

/** Tells on which setting of a site a write depends. */
function conditionOf({ writtenIf }: ResourceDefinition, code: Interaction): { documentation?: string } {
	const isWrite = writeInteractions.some((write) => write === code);
	return writtenIf !== undefined && isWrite
		? { documentation: `Sites allow it by the setting ${writtenIf}, which is off by default.` }
		: {};
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
