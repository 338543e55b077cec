import { operations } from './capability-statement.ts';
import { answer, body, id, type Naming, operation, type PathItem, queryParameter } from './openapi-parts.ts';
import type { ResourceDefinition } from './resource.ts';

export function operationPaths(definition: ResourceDefinition, { segment, tag: type }: Naming): Record<string, PathItem> {
	const { example } = definition;
	const served = new Set(operations.filter((item) => item.types(definition)).map(({ name }) => name));
	const paths: Record<string, PathItem> = {};
	if (served.has('validate')) {
		const checked = { 200: answer('The faults of the resource', 'OperationOutcome') };
		const requestBody = body('Resource', example);
		const wanted = [
			queryParameter('profile', 'Canonical URL of a profile to validate against'),
			queryParameter('mode', 'create or update'),
		];
		paths[`/fhir/${segment}/$validate`] = {
			post: { ...operation(type, `validate${type}`, 'Validate without storing', checked, wanted), requestBody },
		};
		paths[`/fhir/${segment}/{id}/$validate`] = {
			get: operation(type, `validateStored${type}`, 'Validate what is stored', checked, [id, ...wanted]),
		};
	}
	if (served.has('everything')) {
		const wanted = [
			id,
			queryParameter('start', 'The first day of care'),
			queryParameter('end', 'The last day of care'),
			queryParameter('_since', 'Only what changed since this instant'),
			queryParameter('_type', 'Resource types, separated by commas'),
			queryParameter('_count', 'Entries per page: 50 by default, at most 1000'),
		];
		const page = { 200: answer('The patient and the resources that refer to it', 'Bundle') };
		const parameter = [{ name: '_type', valueCode: 'Observation' }];
		paths[`/fhir/${segment}/{id}/$everything`] = {
			get: operation(type, `everything${type}`, 'Everything about a patient', page, wanted),
			post: {
				...operation(type, `everything${type}ByParameters`, 'Everything about a patient', page, [id]),
				requestBody: body('Resource', { resourceType: 'Parameters', parameter }),
			},
		};
	}
	return paths;
}

interface TypeOperation {
	/** The type, and the name of the operation. */
	path: `${string}/$${string}`;
	/** The tag under which it stands. */
	tag: string;
	id: string;
	summary: string;
	answer: string;
	schema: string;
	/** Parameters of the URL by name, and what they mean. Undefined for an operation that only POST carries out. */
	query?: Readonly<Record<string, string>>;
	/** A body that the operation accepts. */
	example: readonly object[];
}

const coded = {
	system: 'The code system',
	code: 'The code',
	display: 'The display that the code should have',
};

const parameters = { url: 'http://hl7.org/fhir/ValueSet/administrative-gender', system: 'http://hl7.org/fhir/administrative-gender' };

/** The operations of one resource type that are about no single resource. */
const ofTypes: readonly TypeOperation[] = [
	{
		...{ path: 'Observation/$lastn', tag: 'Observation', id: 'lastnObservation' },
		summary: 'The newest observations of each code',
		...{ answer: 'A Bundle of type searchset, the newest first', schema: 'Bundle' },
		query: {
			patient: 'The patient; or subject',
			category: 'The category; or a parameter about a code. Further parameters are those of a search.',
			code: 'The code',
			max: 'Observations of each code: 1 by default',
		},
		example: [
			{ name: 'patient', valueString: 'Patient/1' },
			{ name: 'category', valueString: 'laboratory' },
			{ name: 'max', valuePositiveInt: 3 },
		],
	},
	{
		...{ path: 'Patient/$match', tag: 'Patient', id: 'matchPatient' },
		summary: 'The patients who may be the stated one',
		...{ answer: 'A Bundle of type searchset with scores and grades, the surest match first', schema: 'Bundle' },
		example: [
			{
				name: 'resource',
				resource: { resourceType: 'Patient', name: [{ family: 'Rivers', given: ['Alba'] }], birthDate: '1981-06-12' },
			},
			{ name: 'onlyCertainMatches', valueBoolean: false },
			{ name: 'count', valueInteger: 5 },
		],
	},
	{
		...{ path: 'DocumentReference/$docref', tag: 'DocumentReference', id: 'docrefDocumentReference' },
		summary: 'The current documents of a patient',
		...{ answer: 'A Bundle of type searchset', schema: 'Bundle' },
		query: {
			patient: 'The patient',
			start: 'The first day of care',
			end: 'The last day of care',
			type: 'The kind of document',
			'on-demand': 'true is answered without documents, because none is generated on demand',
			profile: 'Profiles that the references claim',
			_count: 'Entries per page: 50 by default, at most 1000',
		},
		example: [{ name: 'patient', valueId: '1' }],
	},
	{
		...{ path: 'ValueSet/$expand', tag: 'ValueSet', id: 'expandValueSet' },
		summary: 'The codes of a value set',
		...{ answer: 'A ValueSet with its expansion', schema: 'Resource' },
		query: {
			url: 'The canonical URL of the value set',
			valueSetVersion: 'The version of the value set',
			filter: 'A text that displays begin with or contain',
			count: 'The largest number of codes',
			offset: 'The number of codes to leave out',
		},
		example: [{ name: 'url', valueUri: parameters.url }],
	},
	{
		...{ path: 'ValueSet/$validate-code', tag: 'ValueSet', id: 'validateCodeValueSet' },
		summary: 'Tells whether a value set has a code',
		...{ answer: 'Parameters with result and message', schema: 'Resource' },
		query: { url: 'The canonical URL of the value set', valueSetVersion: 'The version of the value set', ...coded },
		example: [
			{ name: 'url', valueUri: parameters.url },
			{ name: 'code', valueCode: 'male' },
			{ name: 'system', valueUri: parameters.system },
		],
	},
	{
		...{ path: 'CodeSystem/$lookup', tag: 'CodeSystem', id: 'lookupCodeSystem' },
		summary: 'The display and the place of a code',
		...{ answer: 'Parameters with name, display and properties', schema: 'Resource' },
		query: { system: coded.system, version: 'The version of the code system', code: coded.code },
		example: [{ name: 'coding', valueCoding: { system: parameters.system, code: 'male' } }],
	},
	{
		...{ path: 'CodeSystem/$validate-code', tag: 'CodeSystem', id: 'validateCodeCodeSystem' },
		summary: 'Tells whether a code system has a code',
		...{ answer: 'Parameters with result and message', schema: 'Resource' },
		query: { url: 'The code system', version: 'The version of the code system', code: coded.code, display: coded.display },
		example: [
			{ name: 'url', valueUri: parameters.system },
			{ name: 'code', valueCode: 'male' },
		],
	},
];

/** The tags of operations of types that have no paths of their own. */
export const operationTags: readonly string[] = ['ValueSet', 'CodeSystem'];

export function typeOperationPaths(): Record<string, PathItem> {
	return Object.fromEntries(
		ofTypes.map(({ path, tag, id: name, summary, answer: description, schema, query, example }): [string, PathItem] => {
			const found = { 200: answer(description, schema) };
			const asked = Object.entries(query ?? {}).map(([parameter, meaning]) => queryParameter(parameter, meaning));
			const requestBody = body('Resource', { resourceType: 'Parameters', parameter: example });
			const post = { ...operation(tag, query === undefined ? name : `${name}ByParameters`, summary, found), requestBody };
			return [`/fhir/${path}`, query === undefined ? { post } : { get: operation(tag, name, summary, found, asked), post }];
		}),
	);
}
