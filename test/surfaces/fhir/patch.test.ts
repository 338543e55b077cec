import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { type TestService, testService } from '#test/support/service.ts';

describe('a JSON Patch is about the resource as it is read', () => {
	let service: TestService;
	let west: FhirCall;
	before(async () => {
		service = await testService();
		west = fhirClient(service, (await service.addSite('west')).key);
	});
	after(() => service[Symbol.asyncDispose]());

	const tag = { system: 'urn:tags', code: 'seen' };
	const created = async (given: object = {}) =>
		(await west('POST', '/Patient', { resourceType: 'Patient', gender: 'male', ...given })).body;
	const patched = (id: string, ...operations: object[]): Promise<FhirReply> => west('PATCH', `/Patient/${id}`, operations);

	test('so a resource without own meta is given a tag and a profile', async () => {
		const { id } = await created();
		const reply = await patched(id, { op: 'add', path: '/meta/tag', value: [tag] }, { op: 'add', path: '/meta/security', value: [] });
		assert.equal(reply.status, 400, 'an empty list is no FHIR');
		const { status, body } = await patched(id, { op: 'add', path: '/meta/tag', value: [tag] });
		assert.deepEqual([status, body.meta.versionId, body.meta.tag], [200, '2', [tag]]);
		assert.deepEqual((await west('GET', `/Patient?_tag=urn:tags|seen`)).body.entry?.length, 1);
	});

	test('and version, time and source may be tested, and are those of the new version afterwards', async () => {
		const first = await created({ meta: { tag: [tag] } });
		const tests = ['versionId', 'lastUpdated', 'source'].map((name) => ({ op: 'test', path: `/meta/${name}`, value: first.meta[name] }));
		const { status, body } = await patched(first.id, ...tests, { op: 'replace', path: '/gender', value: 'female' });
		assert.deepEqual([status, body.gender, body.meta.versionId, body.meta.tag], [200, 'female', '2', [tag]]);
		assert.notEqual(body.meta.lastUpdated, first.meta.lastUpdated);
		assert.equal(body.meta.source, first.meta.source, 'the same client wrote it');
		assert.equal((await patched(first.id, ...tests)).status, 422, 'the version is another one');
	});

	test('a source that the patch states is kept, and nothing else of what the service assigns', async () => {
		const { id } = await created();
		const { body } = await patched(
			id,
			{ op: 'replace', path: '/meta/source', value: 'urn:mine' },
			{ op: 'replace', path: '/meta/versionId', value: '77' },
			{ op: 'replace', path: '/gender', value: 'other' },
		);
		assert.deepEqual([body.meta.source, body.meta.versionId], ['urn:mine', '2']);
	});

	test('a patch that changes nothing makes no version', async () => {
		const { id, meta } = await created();
		const { status, body } = await patched(id, { op: 'test', path: '/gender', value: 'male' });
		assert.deepEqual([status, body.meta], [200, meta], JSON.stringify(body));
	});

	test('numbers are tested by their value', async () => {
		const text = '{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":1.10E2}}';
		const { id } = (await west('POST', '/Observation', text)).body;
		const of = (value: number) => west('PATCH', `/Observation/${id}`, [{ op: 'test', path: '/valueQuantity', value: { value } }]);
		assert.deepEqual([(await of(110)).status, (await of(111)).status], [200, 422]);
	});
});
