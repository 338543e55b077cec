import assert from 'node:assert/strict';
import { fhirOpenApi } from '#fhir/openapi.ts';
import { resources } from '#fhir/resources/index.ts';
import { dicomWebOpenApi } from '#surfaces/dicomweb/openapi.ts';
import type { GivenImage } from './images.ts';
import type { FhirBody } from './service.ts';

/** Every route and parameter of FHIR and DICOMweb, as their documents name them, with what belongs to a site. */

export type ResourceType = keyof typeof resources;

/** It stands in all that one site has, and nowhere else. */
export const canary = 'CANARY4711';

/** A resource of a type that bears it. */
export function tagged(type: ResourceType): FhirBody {
	// The example of a report is about a study, which is not there.
	const example = type === 'DiagnosticReport' ? { status: 'final', code: { text: canary } } : resources[type].example;
	return { ...example, resourceType: type, meta: { tag: [{ system: 'urn:canary', code: canary }] } };
}

export interface Route {
	method: string;
	path: string;
	parameters: string[];
}

interface Described {
	paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>;
}

/** Every route of FHIR and DICOMweb; one for every type where the document has them together. */
export function routes(): Route[] {
	const { paths } = fhirOpenApi('1.0.0', 'https://fhir.test', dicomWebOpenApi) as Described;
	const described = Object.entries(paths).flatMap(([path, item]) =>
		Object.entries(item).map(
			([method, { parameters = [] }]): Route => ({
				method: method.toUpperCase(),
				path,
				parameters: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
			}),
		),
	);
	const types = Object.keys(resources) as ResourceType[];
	return described.flatMap((route) => {
		if (!route.path.startsWith('/fhir/{type}')) return [route];
		return types.map((type) => ({
			...route,
			path: route.path.replace('{type}', type),
			parameters: route.path === '/fhir/{type}' ? Object.keys(resources[type].search) : route.parameters,
		}));
	});
}

/** What a site has. */
export interface Owned {
	/** The ids of resources by their type, and of its export. */
	ids: ReadonlyMap<string, string>;
	image: GivenImage;
}

/** A path with what it names of a site. */
export function filled(path: string, { ids, image }: Owned): string {
	const type = /^\/fhir\/([A-Z]\w+)/.exec(path)?.[1] ?? '';
	const known: Record<string, string> = {
		id: ids.get(type) ?? 'of-north',
		version: '1',
		type: 'Observation',
		study: image.studyUid,
		series: image.seriesUid,
		instance: image.sopInstanceUid,
		frames: '1',
		path: '7FE00010',
		job: ids.get('job') ?? '',
		file: ids.get('file') ?? '',
	};
	return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? assert.fail(`nothing is known for ${name} in ${path}`));
}

/** Values of a site for a search parameter, as it compares them. */
export function valuesFor(name: string, type: string, { ids }: Owned): string {
	const id = ids.get(type) ?? '';
	const patient = ids.get('Patient') ?? '';
	const compared = resources[type as ResourceType]?.search[name]?.type;
	if (name === '_id') return id;
	if (name === '_lastUpdated' || compared === 'date') return 'ge1900';
	if (compared === 'reference') return `${patient},Patient/${patient},${id}`;
	if (compared === 'number' || compared === 'quantity') return 'gt-1';
	return `${canary},urn:canary|${canary},${id}`;
}

/** Values of a site for a parameter of an operation, a system search or QIDO-RS. */
export function otherValuesFor(name: string, { ids, image }: Owned): string {
	const known: Record<string, string> = {
		_id: [...ids.values()].join(),
		_type: 'Patient,Observation',
		_typeFilter: `Patient?_tag=${canary}`,
		_since: '1900-01-01T00:00:00Z',
		_lastUpdated: 'ge1900',
		start: '1900-01-01',
		end: '2100-01-01',
		patient: `Patient/${ids.get('Patient') ?? ''}`,
		PatientName: `${canary}*`,
		StudyDescription: `${canary}*`,
		PatientBirthDate: '19000101-',
		StudyDate: '19000101-',
		StudyTime: '0000-',
		StudyInstanceUID: image.studyUid,
		SeriesInstanceUID: image.seriesUid,
		SOPInstanceUID: image.sopInstanceUid,
		includefield: 'all',
		fuzzymatching: 'true',
		limit: '100',
		offset: '0',
		_count: '100',
	};
	return known[name] ?? canary;
}

/** Six at once. */
export async function inTurns<T>(list: readonly T[], does: (item: T) => Promise<void>): Promise<void> {
	const left = [...list];
	await Promise.all(
		Array.from({ length: 6 }, async () => {
			for (let item = left.pop(); item !== undefined; item = left.pop()) await does(item);
		}),
	);
}
