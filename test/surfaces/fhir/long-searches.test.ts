import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { idsOf, linkOf, pages } from '#test/support/fhir-sample.ts';
import { type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let west: FhirCall;
let east: FhirCall;

before(async () => {
	service = await testService();
	west = fhirClient(service, (await service.addSite('west')).key);
	east = fhirClient(service, (await service.addSite('east')).key);
	for (const id of ['anna', 'ben', 'cat']) await west('PUT', `/Patient/${id}`, { resourceType: 'Patient', id });
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

describe('a search whose parameters are too long for a link', () => {
	const unknown = Array.from({ length: 1997 }, (_, index) => `unknown-${String(index).padStart(8, '0')}`);
	const parameters = new URLSearchParams({ _id: ['anna', 'ben', 'cat', ...unknown].join(), _sort: '_id', _count: '1' }).toString();
	const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
	const posted = () => west('POST', '/Patient/_search', parameters, form);
	const pathOf = (url: string | undefined) => (url ?? '').slice((url ?? '').indexOf('/fhir/') + 5);
	const kept = () => service.rows<{ n: number }>('select count(*)::integer as n from long_search');

	test('is followed page by page with GET', async () => {
		const first = await posted();
		assert.equal(first.status, 200, first.text);
		for (const relation of ['self', 'next']) assert.ok((linkOf(first, relation) ?? '').length <= 2048, relation);
		assert.deepEqual(await pages(west, first), [['anna'], ['ben'], ['cat']]);
		const again = await west('GET', pathOf(linkOf(first, 'self')));
		assert.deepEqual(idsOf(again), ['anna']);
		assert.equal(linkOf(again, 'self'), linkOf(first, 'self'));
		const second = await west('GET', `${pathOf(linkOf(first, 'next'))}&_format=application%2Fjson`);
		assert.deepEqual(idsOf(second), ['ben']);
		assert.match(second.headers.get('content-type') ?? '', /^application\/json/);
	});

	test('is kept once, however often it is sent', async () => {
		const before = await kept();
		await posted();
		await posted();
		assert.deepEqual(await kept(), before);
	});

	test('is unknown to other sites and other types, and takes nothing more', async () => {
		const next = pathOf(linkOf(await posted(), 'next'));
		assert.equal((await east('GET', next)).status, 410);
		assert.equal((await west('GET', next.replace('/Patient', '/Observation'))).status, 410);
		assert.equal((await west('GET', `${next}&name=a`)).status, 400);
		assert.equal((await west('GET', `${next.slice(0, -8)}AAAAAAAA`)).status, 400);
	});

	test('is 410 once it has expired, until it is sent again', async () => {
		const next = pathOf(linkOf(await posted(), 'next'));
		await service.rows("update long_search set expires_at = now() - interval '1 second'");
		const gone = await west('GET', next);
		assert.equal(gone.status, 410);
		assert.match(gone.text, /"code":"deleted"[^}]*send the search again/);
		await posted();
		assert.deepEqual(idsOf(await west('GET', next)), ['ben']);
	});

	test('may be no longer than SEARCH_LENGTH_MAX', async () => {
		const answer = await west('POST', '/Patient/_search', `_id=${'a'.repeat(1024 * 1024)}`, form);
		assert.equal(answer.status, 400);
		assert.match(answer.text, /at most 1048576 characters/);
	});
});

test('a search that fits keeps nothing, and its links show it', async () => {
	const before = await service.rows('select id from long_search');
	const reply = await west('GET', `/Patient?_id=anna,ben,${'x'.repeat(1500)}&_count=1`);
	assert.match(linkOf(reply, 'next') ?? '', /_id=anna/);
	assert.deepEqual(await service.rows('select id from long_search'), before);
});
