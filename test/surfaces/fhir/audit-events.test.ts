import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { setSite } from '#administration/sites.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

interface Found {
	total: number | undefined;
	actions: string[];
	/** The relations of the links. */
	links: string[];
	entries: { resource: Record<string, unknown>; search: { mode: string } }[];
}

let service: TestService;
let west: FhirCall;

before(async () => {
	// Requests wait to be written for longer than the changes here take, and are listed at their time all the same.
	service = await testService({ AUDIT_WAIT_MS_MAX: '300', PROCESSES: '1' });
	west = fhirClient(service, (await service.addSite('west')).key);
	await setSite(service.administration, { slug: 'west', deletes: true });
	// Events of the same millisecond have no order among threads.
	const moment = () => setTimeout(3);
	const note = { resourceType: 'Basic', id: 'note', code: { text: 'a' } };
	assert.equal((await west('PUT', '/Basic/note', note)).status, 201);
	assert.equal((await west('PUT', '/Basic/note', { ...note, code: { text: 'b' } })).status, 200);
	await moment();
	assert.equal((await west('DELETE', '/Basic/note')).status, 204);
	await moment();
	assert.equal((await west('PUT', '/Patient/anna', { resourceType: 'Patient', id: 'anna' })).status, 201);
	assert.equal((await west('GET', '/Patient/anna')).status, 200);
	const written = await west('POST', '/AuditEvent', {
		...{ resourceType: 'AuditEvent', type: { code: '110100' }, action: 'D', recorded: '2020-01-01T00:00:00Z' },
		...{ agent: [{ requestor: true }], source: { observer: { display: 'another' } } },
	});
	assert.equal(written.status, 201, written.text);
	await eventually(async () => (await found('action=R')).actions.length === 1, 'that the read is in the trail');
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

async function found(query: string): Promise<Found> {
	const { status, body, text } = await west('GET', `/AuditEvent?${query}`);
	assert.equal(status, 200, text);
	const entries: Found['entries'] = body.entry ?? [];
	return {
		total: body.total,
		actions: entries.flatMap(({ resource }) => (resource['resourceType'] === 'AuditEvent' ? [String(resource['action'])] : [])),
		links: body.link.map(({ relation }: { relation: string }) => relation),
		entries,
	};
}

async function refused(query: string, parameter: string): Promise<void> {
	const { status, body, text } = await west('GET', `/AuditEvent?${query}`);
	assert.equal(status, 400, text);
	assert.deepEqual(body.issue[0].expression, [parameter]);
}

describe('a search of the audit trail', () => {
	const changes = 'action=U,D,R&entity=Basic/note,Patient/anna';
	// A deletion is an event of the request, and one of the change.
	const newest = ['R', 'U', 'D', 'D', 'U', 'U'];

	test('takes values between commas as alternatives', async () => {
		assert.deepEqual((await found(changes)).actions, newest);
		assert.deepEqual((await found('action=D,,R&entity=Basic/note,Patient/anna')).actions, ['R', 'D', 'D']);
		assert.deepEqual((await found('action=E,R&entity=Basic/note,Patient/anna')).actions, ['R']);
		assert.deepEqual((await found('action=X,D&entity=Basic/note,Patient/anna')).actions, ['D', 'D']);
		assert.deepEqual((await found('action=X')).actions, []);
		assert.deepEqual((await found(`${changes}&date=2019,ge2020&date=lt2021,gt2022`)).actions, newest);
		assert.deepEqual((await found(`${changes}&date=2019,2020`)).actions, []);
		await refused('action=,', 'action');
		await refused('date=2020,never', 'date');
	});

	test('is sorted by date in both directions, page by page', async () => {
		for (const sort of ['-date', '-_lastUpdated', '-date,-_lastUpdated']) {
			assert.deepEqual((await found(`${changes}&_sort=${sort}`)).actions, newest, sort);
		}
		const oldest: string[] = [];
		for (let path = `/AuditEvent?${changes}&_sort=date&_count=3`; path !== ''; ) {
			const { body, status } = await west('GET', path);
			assert.equal(status, 200);
			oldest.push(...(body.entry ?? []).map(({ resource }: { resource: { action: string } }) => resource.action));
			const next = body.link.find(({ relation }: { relation: string }) => relation === 'next')?.url ?? '';
			path = next.includes('_trail=false') ? '' : next.replace(/^.*\/fhir/, '');
		}
		assert.deepEqual(oldest, [...newest].reverse());
		await refused(`${changes}&_sort=agent`, '_sort');
	});

	test('tells how many events there are, with those that clients have written', async () => {
		assert.equal((await found(`${changes}&_total=accurate`)).total, 6);
		assert.equal((await found(`${changes}&_total=none`)).total, undefined);
		const counted = await found('action=D&_summary=count');
		assert.deepEqual([counted.total, counted.entries.length, counted.links], [3, 0, ['self']]);
		assert.equal((await found('action=D&_count=0')).total, 3);
		assert.equal((await found('action=D&date=ge2021&_total=accurate')).total, 2);
		assert.equal((await found('action=D&_trail=false&_summary=count')).total, 1);
		assert.equal((await found('agent=owner@example.org&_total=accurate')).total, 0);
	});

	test('shows the elements that are asked for', async () => {
		const [event] = (await found(`${changes}&_elements=action`)).entries;
		const { id, meta, ...shown } = event?.resource ?? {};
		assert.deepEqual(Object.keys(shown).sort(), ['action', 'agent', 'recorded', 'resourceType', 'source', 'type']);
		assert.ok(typeof id === 'string' && JSON.stringify(meta).includes('SUBSETTED'));
		const [summary] = (await found(`${changes}&_summary=true`)).entries;
		assert.equal(summary?.resource['action'], 'R');
		assert.ok(JSON.stringify(summary?.resource['meta']).includes('SUBSETTED'));
	});

	test('says that events of the trail include nothing', async () => {
		const { actions, entries } = await found(`${changes}&_include=AuditEvent:patient`);
		assert.deepEqual(actions, newest);
		assert.equal(entries.at(-1)?.search.mode, 'outcome');
		await refused(`${changes}&_include=AuditEvent:nothing`, '_include');
	});
});
