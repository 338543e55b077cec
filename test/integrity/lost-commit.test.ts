import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pg from 'pg';
import { newId, nilId } from '#core/id.ts';
import { encodeRequest } from '#fhir/write/request.ts';
import { interpretDelivery } from '#ingest/kinds/index.ts';
import type { FhirDelivery, ReplyTo } from '#record/delivery.ts';
import { BatchRunner, delivery, patientChange } from '#test/support/change-sets.ts';
import { commitLosingProxy } from '#test/support/commit-losing-proxy.ts';
import { testDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/eventually.ts';
import { interpretContext } from '#test/support/interpretation.ts';

describe('a database that dies between COMMIT and its answer', () => {
	test('doubles nothing: the batch finds its own messages and answers them', async () => {
		await using database = await testDatabase();
		using proxy = await commitLosingProxy(database.url);
		const site = newId();
		const batch = [
			delivery(site, '1', [patientChange('A', { gender: 'male' })]),
			delivery(site, '2', [patientChange('A', { gender: 'other' })]),
		];
		await using runner = new BatchRunner(proxy.url);
		const replies = await runner.process(batch);
		assert.equal(proxy.lost(), 1);
		assert.deepEqual(
			replies.map((reply) => reply.answer.acknowledgements.map((ack) => Buffer.from(ack).toString())),
			[['accepted|1|'], ['accepted|2|']],
		);
		const client = new pg.Client({ connectionString: database.url });
		await client.connect();
		assert.deepEqual((await client.query('select gender, version from patient')).rows, [{ gender: 'other', version: 2 }]);
		assert.deepEqual((await client.query('select count(*)::int as rows from message_log')).rows, [{ rows: 2 }]);
		await client.end();
	});

	test('doubles no FHIR write that nobody can recognise either, when it is away for a while', async () => {
		await using database = await testDatabase();
		using proxy = await commitLosingProxy(database.url, 1000);
		await using runner = new BatchRunner(proxy.url, (given) => interpretDelivery(given, interpretContext));
		const create: FhirDelivery = {
			...{
				id: newId(),
				kind: 'fhir',
				siteId: newId(),
				clientId: nilId,
				surface: 'fhir',
				source: 'key',
				receivedAtMs: Date.now(),
				settings: {},
			},
			bytes: encodeRequest({ method: 'POST', url: 'Patient', headers: {}, body: Buffer.from('{"resourceType":"Patient"}') }),
		};
		// A lane hands a batch over again that was not carried out.
		let replies: ReplyTo<FhirDelivery>[] = [];
		await eventually(async () => {
			replies = await runner.process([create]).catch(() => []);
			return replies.length > 0;
		}, 'the answer');
		assert.equal(proxy.lost(), 1);
		assert.deepEqual(
			replies.map(({ answer }) => (answer.kind === 'resource' ? answer.status : undefined)),
			[201],
		);
		const client = new pg.Client({ connectionString: database.url });
		await client.connect();
		assert.deepEqual((await client.query('select count(*)::int as rows from patient')).rows, [{ rows: 1 }]);
		await client.end();
	});

	test('doubles no FHIR write either: creates, patches and versions are answered as they were committed', async () => {
		await using database = await testDatabase();
		const site = newId();
		const fhir = (method: string, url: string, body: object, headers: Record<string, string> = {}): FhirDelivery => ({
			id: newId(),
			kind: 'fhir',
			siteId: site,
			clientId: nilId,
			surface: 'fhir',
			source: 'key',
			receivedAtMs: Date.now(),
			bytes: encodeRequest({ method, url, headers, body: Buffer.from(JSON.stringify(body)) }),
			settings: {},
		});
		const statuses = async (deliveries: FhirDelivery[]) => {
			using proxy = await commitLosingProxy(database.url);
			await using runner = new BatchRunner(proxy.url, (given) => interpretDelivery(given, interpretContext));
			const replies = await runner.process(deliveries);
			assert.equal(proxy.lost(), 1);
			return replies.map(({ answer }) => (answer.kind === 'resource' ? answer.status : undefined));
		};
		const patient = { resourceType: 'Patient', telecom: [{ system: 'phone', value: '1' }] };
		assert.deepEqual(await statuses([fhir('POST', 'Patient', patient), fhir('PUT', 'Patient/own', { ...patient, id: 'own' })]), [201, 201]);
		const another = { op: 'add', path: '/telecom/-', value: { system: 'phone', value: '2' } };
		assert.deepEqual(await statuses([fhir('PATCH', 'Patient/own', [another])]), [200]);
		const put = { resourceType: 'Patient', id: 'own', gender: 'male' };
		assert.deepEqual(await statuses([fhir('PUT', 'Patient/own', put, { 'if-match': 'W/"2"' })]), [200]);
		const client = new pg.Client({ connectionString: database.url });
		await client.connect();
		assert.deepEqual((await client.query('select version from patient order by version')).rows, [{ version: 1 }, { version: 3 }]);
		const kept = await client.query('select tributary_whole_text(resource) as resource from resource_history where version = 2');
		assert.equal(JSON.parse(kept.rows[0].resource).telecom.length, 2);
		await client.end();
	});
});
