import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { settleConflict } from '#administration/conflicts.ts';
import { setSite } from '#administration/sites.ts';
import { silentLog } from '#core/log.ts';
import type { Node } from '#processes/start-node.ts';
import { openPool } from '#storage/database.ts';
import { watchDatabase } from '#storage/database-figures.ts';
import { adt } from '#test/support/adt.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type ReplicatedDatabase, replicatedDatabase } from '#test/support/replicated-database.ts';
import { secondNode } from '#test/support/second-node.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { terminal } from '#test/support/terminal.ts';
import { file, multipartBody, multipartType } from '#test/surfaces/dicomweb/client.ts';
import { createMetrics } from '../../src/metrics.ts';

let servers: ReplicatedDatabase;
let service: TestService;
let key: string;
let call: FhirCall;
let other: Node;
let callOther: FhirCall;
let mllp: MllpClient;
let written = 0;

before(async () => {
	servers = await replicatedDatabase();
	const environment = { DATABASE_READ_URL: servers.standbyUrl, REPLICA_WAIT_MS_MAX: '200', REPLICA_LAG_MS_MAX: '2000' };
	service = await testService(environment, servers.primary);
	({ key } = await service.addSite('north'));
	call = fhirClient(service, key);
	other = await secondNode({ ...environment, DATABASE_URL: servers.primary.url });
	callOther = fhirClient({ port: (surface) => other.surfaces[surface]?.port ?? 0 }, key);
	mllp = await MllpClient.connect(service.port('mllp'));
});

const cleanUp: (() => void)[] = [];

after(async () => {
	mllp?.close();
	await other?.close();
	await service?.[Symbol.asyncDispose]();
	await servers?.[Symbol.asyncDispose]();
	for (const each of cleanUp) each();
});

/** Sends a message and returns the identifier of its patient. */
async function message(): Promise<string> {
	const id = `M${++written}`;
	assert.equal(msa(await mllp.send(adt(`c${written}`, id, 1))).code, 'AA');
	return id;
}

async function found(by: FhirCall, id: string): Promise<number> {
	const { status, body } = await by('GET', `/Patient?identifier=${id}`);
	assert.equal(status, 200);
	return (body as FhirBody).entry?.length ?? 0;
}

async function created(): Promise<string> {
	const { status, body } = await call('POST', '/Patient', { resourceType: 'Patient', name: [{ family: `F${++written}` }] });
	assert.equal(status, 201);
	return (body as FhirBody).id;
}

async function metric(name: string, of: TestService = service): Promise<number> {
	const text = await (await fetch(`http://127.0.0.1:${of.port('ops')}/metrics`)).text();
	const line = text.split('\n').find((each) => each.startsWith(`${name} `) || each.startsWith(`${name}{`));
	return Number(line?.split(' ').at(-1) ?? 0);
}

const answeredBy = (who: string) => metric(`tributary_replica_reads_total{answered="${who}"}`);

async function ready(): Promise<{ status: number; body: FhirBody }> {
	const answer = await fetch(`http://127.0.0.1:${service.port('ops')}/health/ready`);
	return { status: answer.status, body: await answer.json() };
}

async function untilReplicaIs(state: string): Promise<void> {
	await eventually(async () => (await ready()).body.replica.state === state, `the replica is ${state}`);
}

/** A message, a resource and its next version are read at once, on the node that wrote and on the other one. */
async function readsWhatWasWritten(): Promise<void> {
	for (const by of [call, callOther]) {
		assert.equal(await found(by, await message()), 1);
		const id = await created();
		assert.equal((await by('GET', `/Patient/${id}`)).status, 200);
		const { status } = await call('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, name: [{ family: 'Next' }] });
		assert.equal(status, 200);
		const read = await by('GET', `/Patient/${id}`);
		assert.equal((read.body as FhirBody).meta.versionId, '2');
		assert.equal((await by('GET', `/Patient/${id}/_history/2`)).status, 200);
	}
}

describe('reads from a replica', () => {
	test('find what was acknowledged, on any node, and the replica answers', async () => {
		const before = (await answeredBy('replica')) + (await answeredBy('replica_waited'));
		for (let round = 0; round < 10; round++) await readsWhatWasWritten();
		assert.ok((await answeredBy('replica')) + (await answeredBy('replica_waited')) > before);
		const { status, body } = await ready();
		assert.equal(status, 200);
		assert.equal(body.replica.state, 'current');
	});

	test('find it while the replica takes nothing over, and reads of a site that nobody writes stay there', async () => {
		const quiet = await service.addSite('quiet', { allowed_ips: ['10.9.9.1'] });
		const callQuiet = fhirClient(service, quiet.key);
		assert.equal((await callQuiet('GET', '/Patient')).status, 200);
		await eventually(async () => (await metric('tributary_replica_lag_bytes')) === 0, 'the replica has everything');
		assert.equal((await callQuiet('GET', '/Patient')).status, 200);
		await servers.pause();
		try {
			await readsWhatWasWritten();
			const before = await answeredBy('replica');
			assert.equal((await callQuiet('GET', '/Patient')).status, 200);
			assert.equal(await answeredBy('replica'), before + 1);
			assert.ok((await answeredBy('primary_behind')) > 0);
			await untilReplicaIs('late');
			await readsWhatWasWritten();
			assert.ok((await metric('tributary_replica_lag_seconds')) > 2);
			assert.ok((await metric('tributary_replica_lag_bytes')) > 0);
			assert.equal((await ready()).status, 200);
		} finally {
			await servers.resume();
		}
		await untilReplicaIs('current');
		await readsWhatWasWritten();
	});

	test('stand beside figures of every standby and of every slot, which are those of the primary', async () => {
		const metrics = createMetrics({ processMetrics: false });
		const look = async () => {
			const pool = openPool(servers.primary.url, { max: 1 });
			const watch = watchDatabase({ database: pool, metrics, log: silentLog });
			await watch.first;
			await watch.close();
			await pool.close();
			const figure = async (name: string) =>
				(await metrics.registry.getSingleMetric(`tributary_database_${name}`)?.get())?.values[0]?.value ?? -1;
			return { standbys: await figure('standbys'), lag: await figure('standby_lag_bytes'), heldBack: await figure('slot_wal_bytes') };
		};
		const before = await look();
		assert.equal(before.standbys, 1);
		assert.equal(before.heldBack, 0);
		await service.rows("select pg_create_physical_replication_slot('nobody', true)");
		await servers.pause();
		try {
			await message();
			const behind = await look();
			assert.ok(behind.lag > 0, 'the standby has not replayed the message');
			assert.ok(behind.heldBack > 0, 'nobody has fetched it by the slot');
		} finally {
			await servers.resume();
			await service.rows("select pg_drop_replication_slot('nobody')");
		}
		await untilReplicaIs('current');
	});

	test('have a line of doctor, which says what the replica is and how far it is behind', async (t) => {
		const shell = await terminal(t, {
			DATABASE_URL: servers.primary.url,
			DATABASE_READ_URL: servers.standbyUrl,
			REPLICA_LAG_MS_MAX: '1000',
		});
		const findings = async (): Promise<{ check: string; state: string; text: string }[]> => {
			const { checks } = JSON.parse((await shell.run('doctor', '--json')).out);
			return checks.filter(({ check }: { check: string }) => check === 'read replica' || check === 'pooler');
		};
		const only = async () => {
			const [found, ...others] = await findings();
			assert.deepEqual(others, []);
			return [found?.state, found?.text];
		};
		const isCurrent = async () => /^PostgreSQL [\d.]+ answers as a standby and lacks nothing$/.test((await only())[1] ?? '');
		await eventually(isCurrent, 'a replica that lacks nothing');
		await servers.pause();
		try {
			await message();
			const isLate = async () => {
				const [state, text = ''] = await only();
				assert.match(text, /answers as a standby and lacks \d+ bytes of the log; the last transaction that it has is [\d.]+ s old/);
				return state === 'warning' && text.endsWith('which is more than REPLICA_LAG_MS_MAX');
			};
			await eventually(isLate, 'a replica that is late');
		} finally {
			await servers.resume();
		}
		await untilReplicaIs('current');
	});

	test('are told of by doctor where the role may not see how far they are', async (t) => {
		const found = async (role: string) => {
			const url = new URL(servers.primary.url);
			url.username = role;
			const shell = await terminal(t, { DATABASE_URL: url.href });
			const { checks }: { checks: { check: string; state: string; text: string }[] } = JSON.parse(
				(await shell.run('doctor', '--json')).out,
			);
			return checks.flatMap(({ check, state, text }) => (check === 'replication' ? [state, text] : []));
		};
		await service.rows('create role watcher login');
		try {
			const lag = 'tributary_database_standby_lag_bytes stays 0 and TributaryStandbyBehind is never raised';
			assert.deepEqual(await found('watcher'), [
				'warning',
				`1 standby follows the server, and the role watcher does not see how far behind it is, so ${lag}: grant pg_monitor to watcher`,
			]);
			await service.rows('grant pg_monitor to watcher');
			assert.deepEqual(await found('watcher'), ['ok', '1 standby follows the server, and the role watcher sees how far behind it is']);
		} finally {
			await service.rows('drop role watcher');
		}
	});

	for (const [decided, policy] of [
		['was replaced', 'replace'],
		['got another content by a decision', 'keep'],
	] as const) {
		test(`a study that ${decided} is retrieved as it is now while the replica still knows it as it was`, async () => {
			const pacs = await service.addSite(`pacs-${policy}`, { allowed_ips: [policy === 'keep' ? '10.9.9.3' : '10.9.9.2'] });
			await setSite(service.administration, { slug: `pacs-${policy}`, instance_policy: policy });
			const headers = { 'X-API-Key': pacs.key };
			const at = `http://127.0.0.1:${service.port('fhir')}/dicomweb/studies`;
			const put = async (pixels: number) => {
				const body = new Uint8Array(multipartBody([file({ pixels: Buffer.alloc(64, pixels) })]));
				const answer = await fetch(at, { method: 'POST', headers: { ...headers, 'Content-Type': multipartType }, body });
				assert.ok(answer.ok, await answer.text());
			};
			await put(1);
			const [{ '0020000D': uid }] = (await (await fetch(at, { headers })).json()) as FhirBody;
			if (policy === 'keep') await put(2);
			await servers.pause();
			try {
				if (policy === 'replace') await put(2);
				else {
					const [conflict] = await service.rows<{ id: string }>('select id from imaging_conflict where site_id = $1', [pacs.site.id]);
					await settleConflict(service.administration, { id: String(conflict?.id), keep: 'received' });
				}
				const study = await fetch(`${at}/${uid.Value[0]}`, { headers });
				assert.equal(study.status, 200);
				const bytes = Buffer.from(await study.arrayBuffer());
				assert.ok(bytes.includes(Buffer.alloc(64, 2)) && !bytes.includes(Buffer.alloc(64, 1)));
				assert.equal((await fetch(`${at}/${uid.Value[0]}/metadata`, { headers })).status, 200);
			} finally {
				await servers.resume();
			}
		});
	}

	test('are answered by the primary at once while the replica does not answer, and by the replica when it is back', async () => {
		const thaw = servers.freezeStandby();
		try {
			await readsWhatWasWritten();
			assert.equal((await ready()).body.replica.state, 'away');
		} finally {
			thaw();
		}
		await untilReplicaIs('current');
		await servers.stopStandby();
		await readsWhatWasWritten();
		await untilReplicaIs('away');
		const before = await answeredBy('primary_away');
		await readsWhatWasWritten();
		assert.ok((await answeredBy('primary_away')) > before);
		assert.equal((await ready()).status, 200);
		assert.equal(await metric('tributary_replica_up'), 0);
		await servers.startStandby();
		await untilReplicaIs('current');
		const there = await answeredBy('replica');
		await readsWhatWasWritten();
		await eventually(async () => {
			await call('GET', '/Patient?_count=1');
			return (await answeredBy('replica')) > there;
		}, 'the replica answers reads');
	});
});
