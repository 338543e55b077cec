import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { follow, idsOf, linkOf, pages, writeSample } from '#test/support/fhir-sample.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let west: FhirCall;
let east: FhirCall;

before(async () => {
	service = await testService();
	west = fhirClient(service, (await service.addSite('west')).key);
	east = fhirClient(service, (await service.addSite('east')).key);
	await writeSample(west);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

const get = (path: string, headers: Record<string, string> = {}) => west('GET', `/${path}`, undefined, headers);
describe('histories', () => {
	test('of a resource: every version, newest first, by pages, and each by itself', async () => {
		const id = 'versions';
		for (const gender of ['male', 'female', 'other']) await west('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, gender });
		const { body } = await get(`Patient/${id}/_history`);
		assert.equal(body.type, 'history');
		assert.equal(body.total, 3);
		const told = body.entry.map((entry: FhirBody) => [
			entry.resource.meta.versionId,
			entry.resource.gender,
			entry.request.method,
			entry.response.etag,
		]);
		assert.deepEqual(told, [
			['3', 'other', 'PUT', 'W/"3"'],
			['2', 'female', 'PUT', 'W/"2"'],
			['1', 'male', 'PUT', 'W/"1"'],
		]);
		const second = await get(`Patient/${id}/_history/2`);
		assert.equal(second.body.gender, 'female');
		assert.equal(second.headers.get('etag'), 'W/"2"');
		for (const path of [
			`Patient/${id}/_history/4`,
			`Patient/${id}/_history/0`,
			`Patient/${id}/_history/x`,
			'Patient/none/_history',
			'Patient/none/_history/1',
		]) {
			assert.equal((await get(path)).status, 404, path);
		}
		assert.equal((await east('GET', `/Patient/${id}/_history`)).status, 404);
		assert.equal((await east('GET', `/Patient/${id}/_history/1`)).status, 404);
		const versions: string[] = [];
		for (let url: string | undefined = `/fhir/Patient/${id}/_history?_count=1`; url !== undefined; ) {
			const reply: FhirReply = await follow(west, url);
			versions.push(...reply.body.entry.map((entry: FhirBody) => entry.resource.meta.versionId));
			url = linkOf(reply, 'next');
		}
		assert.deepEqual(versions, ['3', '2', '1']);
	});

	test('of a type: every version of every resource, since a moment if asked', async () => {
		const all = await get('Patient/_history?_count=1000');
		const seen = all.body.entry.map((entry: FhirBody) => `${entry.resource.id}/${entry.resource.meta.versionId}`);
		assert.ok(
			['anna/1', 'versions/1', 'versions/2', 'versions/3'].every((name) => seen.includes(name)),
			seen.join(),
		);
		const found: string[] = [];
		for (let url: string | undefined = '/fhir/Patient/_history?_count=2'; url !== undefined; ) {
			const reply: FhirReply = await follow(west, url);
			found.push(...reply.body.entry.map((entry: FhirBody) => `${entry.resource.id}/${entry.resource.meta.versionId}`));
			url = linkOf(reply, 'next');
		}
		assert.deepEqual(found, seen);
		assert.equal((await get('Patient/_history?_since=2999-01-01T00:00:00Z')).body.entry, undefined);
		assert.equal((await get('Patient/_history?_since=yesterday')).status, 400);
		assert.equal((await get('Patient/_history?foo=1')).status, 400);
		assert.equal((await east('GET', '/Patient/_history')).body.entry, undefined);
	});
});

describe('the whole system', () => {
	const namesOf = ({ body }: FhirReply): string[] =>
		(body.entry ?? []).map(({ resource }: FhirBody) => `${resource.resourceType}/${resource.id}/${resource.meta.versionId}`);
	async function walked(path: string): Promise<string[]> {
		const names: string[] = [];
		for (let url: string | undefined = `/fhir/${path}`; url !== undefined; ) {
			const reply: FhirReply = url.startsWith('/')
				? await get(url.slice('/fhir/'.length))
				: await west('GET', url.slice(url.indexOf('/fhir') + 5));
			assert.equal(reply.status, 200, reply.text);
			const page = namesOf(reply);
			assert.ok(page.length > 0, `${path}: an empty page`);
			names.push(...page);
			url = linkOf(reply, 'next');
		}
		return names;
	}

	test('has a history of all types, newest first, without a gap', async () => {
		// One transaction: all have one moment, and two types share an id.
		const entry = ['Organization', 'Location', 'Patient'].flatMap((resourceType) =>
			['t1', 't2'].map((id) => ({
				resource: { resourceType, id, ...(resourceType === 'Organization' ? { name: 'x' } : {}) },
				request: { method: 'PUT', url: `${resourceType}/${id}` },
			})),
		);
		assert.equal((await west('POST', '', { resourceType: 'Bundle', type: 'transaction', entry })).status, 200);
		// Studies are rendered, and looked up beside the others.
		await setSite(service.administration, { slug: 'west', report_writes: true });
		const study = { resourceType: 'ImagingStudy', id: 'st1', status: 'available', subject: { reference: 'Patient/t1' } };
		assert.equal((await west('PUT', '/ImagingStudy/st1', study)).status, 201);
		await west('PUT', '/Organization/t1', { resourceType: 'Organization', id: 't1', name: 'y' });
		const all = await get('_history?_count=1000');
		assert.equal(all.status, 200, all.text);
		const names = namesOf(all);
		assert.equal(all.body.total, names.length);
		assert.equal(names[0], 'Organization/t1/2');
		for (const name of ['ImagingStudy/st1/1', 'Organization/t1/1', 'Location/t2/1', 'Patient/t1/1', 'Patient/anna/1', 'Observation/hb1/1'])
			assert.ok(names.includes(name), name);
		const moments = all.body.entry.map(({ resource }: FhirBody) => resource.meta.lastUpdated);
		assert.deepEqual(moments, moments.toSorted().reverse());
		for (const count of [1, 2, 3, 7]) assert.deepEqual(await walked(`_history?_count=${count}`), names, `by ${count}`);
		const since = await get(`_history?_since=${encodeURIComponent(moments[3])}`);
		assert.ok(namesOf(since).length >= 4 && namesOf(since).length < names.length);
		assert.equal((await get('_history?_since=2999-01-01T00:00:00Z')).body.entry, undefined);
		assert.equal((await get('_history?foo=1')).status, 400);
		assert.equal((await east('GET', '/_history')).body.entry, undefined);
	});

	test('is searched by what all types have in common, or the named ones', async () => {
		const everything = await walked('?_count=1000');
		for (const type of ['Patient', 'Observation', 'Organization', 'Location'])
			assert.ok(
				everything.some((name) => name.startsWith(`${type}/`)),
				type,
			);
		for (const count of [1, 2, 3, 7]) assert.deepEqual(await walked(`?_count=${count}`), everything, `by ${count}`);
		assert.deepEqual(await walked('?_id=t1'), ['Patient/t1/1', 'Location/t1/1', 'Organization/t1/2']);
		assert.deepEqual(await walked('?_type=Organization,Patient&_id=t1,t2&_count=3'), [
			...['Patient/t1/1', 'Patient/t2/1'].toSorted(),
			...['Organization/t1/2', 'Organization/t2/1'],
		]);
		assert.deepEqual((await walked('?_type=Observation,Condition&patient=anna')).toSorted(), [
			'Condition/c1/1',
			'Observation/hb1/1',
			'Observation/hb2/1',
		]);
		const form = await west('POST', '/_search', '_type=Patient&_id=anna', { 'Content-Type': 'application/x-www-form-urlencoded' });
		assert.deepEqual(namesOf(form), ['Patient/anna/1']);
		assert.equal((await get('?_type=Patient,Observation&_summary=count')).body.total, (await walked('?_type=Patient,Observation')).length);
		assert.equal((await east('GET', '?_id=t1')).body.entry, undefined);
		for (const query of ['_type=Nothing', 'name=x', '_type=Patient,Observation&name=x', '_sort=_id', '_include=Observation:patient'])
			assert.equal((await get(`?${query}`)).status, 400, query);
	});
});

describe('Patient/$everything', () => {
	test('is the patient and all that refers to it, by pages of any size', async () => {
		const whole = ['a1', 'anna', 'c1', 'd1', 'hb1', 'hb2'];
		const reply = await get('Patient/anna/$everything');
		assert.deepEqual(idsOf(reply).sort(), whole);
		assert.equal(reply.body.total, 6);
		assert.equal(idsOf(reply)[0], 'anna');
		for (const count of [1, 2, 3, 5, 6, 7]) {
			const found = await pages(west, await get(`Patient/anna/$everything?_count=${count}`));
			assert.deepEqual(found.flat().sort(), whole, `by ${count}`);
			assert.ok(found.every((page) => page.length > 0));
		}
		assert.deepEqual(idsOf(await get('Patient/anna/$everything?_type=Observation,Condition')).sort(), ['c1', 'hb1', 'hb2']);
		assert.deepEqual(idsOf(await get('Patient/anna/$everything?_since=2999')), []);
		assert.equal((await get('Patient/anna/$everything?_type=Nothing')).status, 400);
		assert.equal((await get('Patient/none/$everything')).status, 404);
		assert.equal((await get('Observation/hb1/$everything')).status, 400);
		assert.equal((await east('GET', '/Patient/anna/$everything')).status, 404);
	});
});
