import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import type { Node } from '#processes/start-node.ts';
import { BulkJobTable, type NewJob } from '#storage/bulk-jobs.ts';
import { adt } from '#test/support/adt.ts';
import { doorTo } from '#test/support/door.ts';
import { eventually } from '#test/support/eventually.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { secondNode } from '#test/support/second-node.ts';
import { type TestService, testService } from '#test/support/service.ts';

describe('two nodes on one database', () => {
	let service: TestService;
	let other: Node;
	let key: string;
	let siteId: string;

	before(async () => {
		service = await testService({ PROCESSES: '1' });
		const { site, key: made } = await service.addSite('north');
		[siteId, key] = [site.id, made];
		other = await secondNode({ DATABASE_URL: service.databaseUrl });
		const sender = await MllpClient.connect(service.port('mllp'));
		assert.equal(msa(await sender.send(adt('1', 'P-1', 1))).code, 'AA');
		sender.close();
	});
	after(async () => {
		await other?.close();
		await service?.[Symbol.asyncDispose]();
	});

	const call = (port: number, method: string, path: string, headers: Record<string, string> = {}) =>
		fetch(path.startsWith('http') ? path : `http://127.0.0.1:${port}/fhir${path}`, { method, headers: { 'X-API-Key': key, ...headers } });

	async function locked<T>(text: string, work: (release: () => Promise<unknown>, client: pg.Client) => Promise<T>): Promise<T> {
		const client = new pg.Client({ connectionString: service.databaseUrl });
		await client.connect();
		try {
			await client.query('begin');
			await client.query(text);
			return await work(() => client.query('commit'), client);
		} finally {
			await client.end();
		}
	}

	test('take as many exports of a site and of a key as are allowed, whichever node is asked', async () => {
		// An export does not come to its end while nobody can read patients.
		await locked('lock table patient in access exclusive mode', async (release) => {
			const ports = [service.port('fhir'), other.surfaces['fhir']?.port ?? 0];
			const asked = [0, 1, 0, 1, 0, 1].map((node) => call(ports[node] ?? 0, 'GET', '/$export', { Prefer: 'respond-async' }));
			const answers = await Promise.all(asked);
			assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 202, 429, 429, 429, 429]);
			for (const { status, headers } of answers) assert.equal(headers.get('retry-after') !== null, status === 429);
			await release();
			for (const answer of answers) {
				const at = answer.headers.get('content-location');
				if (at === null) continue;
				await eventually(async () => (await call(0, 'GET', at)).status === 200, 'the export');
				assert.equal((await call(0, 'DELETE', at)).status, 202);
			}
		});
	});

	test('count each other’s jobs one after the other', async () => {
		const job = (id = newId()): NewJob => ({
			...{
				siteId,
				id,
				kind: 'export',
				state: 'waiting',
				nodeId: newId(),
				keyId: 'k',
				request: '/$export',
				parameters: {},
				source: '10.0.0.1',
			},
		});
		const door = doorTo(service.databaseUrl);
		const table = new BulkJobTable(door.journal);
		const bounds = { underWayMax: 1, keptMax: 10, keyUnderWayMax: 1 };
		// The other node has counted and noted its job, and has not committed yet.
		await locked(`select bulk_jobs_held('${siteId}', 'k')`, async (release, client) => {
			const { id, nodeId } = job();
			await client.query(
				`insert into bulk_job (site_id, id, kind, state, node_id, key_id, request, parameters)
				values ($1, $2, 'export', 'waiting', $3, 'k', '/$export', '{}')`,
				[siteId, id, nodeId],
			);
			const asked = table.insert(job(), bounds);
			await eventually(
				async () => (await service.rows(`select from pg_locks where locktype = 'advisory' and not granted`)).length > 0,
				'a job that waits for its turn to be counted',
			);
			await release();
			assert.equal(await asked, 'under-way');
		});
		assert.equal(await table.insert(job(), { ...bounds, underWayMax: 2 }), 'key-under-way');
		assert.equal(await table.insert(job(), { ...bounds, underWayMax: 2, keyUnderWayMax: 2 }), undefined);
		await service.rows('delete from bulk_job');
		await door.close();
	});
});
