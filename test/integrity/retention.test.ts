import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { OperationContext } from '#administration/context.ts';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { Failure } from '#core/failure.ts';
import { silentLog } from '#core/log.ts';
import { watchBudget } from '#retention/budget.ts';
import { keepRetention } from '#retention/keep.ts';
import { firstIdOf } from '#storage/statements/administrative/search-messages.ts';
import { adt } from '#test/support/adt.ts';
import { doorTo } from '#test/support/door.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { type GivenImage, opened, sendImages } from '#test/support/images.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { defaultLimits } from '../../src/limits.ts';
import { createMetrics } from '../../src/metrics.ts';

const dayMs = 86_400_000;
let service: TestService;
const sites: Record<string, { id: string; key: string; call: FhirCall; mllp: MllpClient }> = {};

before(async () => {
	service = await testService();
	for (const [slug, address] of [
		['west', '127.0.0.2'],
		['east', '127.0.0.3'],
	] as const) {
		const { site, key } = await service.addSite(slug, { allowed_ips: [address] });
		const mllp = await MllpClient.connect(service.port('mllp'), address);
		sites[slug] = { id: site.id, key, call: fhirClient(service, key), mllp };
	}
	await opened(service, 'west');
});

after(async () => {
	for (const { mllp } of Object.values(sites)) mllp.close();
	await service[Symbol.asyncDispose]();
});

const at = (slug: string) => sites[slug] ?? assert.fail(slug);

/** Performs an operation as if so many days had gone by. */
async function operate<T>(name: string, input: object = {}, inDays = 0): Promise<T> {
	const operation = operations.find((one) => one.name === name) ?? assert.fail(name);
	const context: OperationContext = { ...service.administration, nowMs: () => Date.now() + inDays * dayMs };
	return (await perform(operation, context, input)) as T;
}

interface Foreseen {
	kept: string;
	site: string | null;
	days: number;
	from: string;
	held: boolean;
	rows: number;
	bytes: number;
	oldest: string | null;
	held_studies: number;
}
interface Finished {
	id: string;
	removed: { kept: string; site: string | null; month: string | null; rows: number }[];
}

const keep = (slug: string, settings: object) => operate('site set', { slug, ...settings });
const run = (inDays: number) => operate<Finished>('retention run', {}, inDays);
const removedOf = ({ removed }: Finished, kept: string) => removed.filter((one) => one.kept === kept).map(({ site, rows }) => [site, rows]);

async function foreseen(slug: string, kept: string, inDays: number): Promise<Foreseen> {
	const all = await operate<Foreseen[]>('retention preview', { site: slug }, inDays);
	return all.find((one) => one.kept === kept) ?? assert.fail(kept);
}

async function send(slug: string, message: string): Promise<void> {
	assert.equal(msa(await at(slug).mllp.send(message)).code, 'AA');
}

const textOf = async (metrics: ReturnType<typeof createMetrics>) => (await metrics.exposition('text')).body;

const count = async (table: string, slug: string) =>
	Number((await service.rows<{ n: string }>(`select count(*) as n from ${table} where site_id = $1`, [at(slug).id]))[0]?.n);

const oldestOf = async (table: string, at: string) =>
	(await service.rows<{ at: Date | null }>(`select min(${at}) as at from ${table} where site_id = $1`, [sites['west']?.id]))[0]?.at;

async function study(uid: string): Promise<FhirBody | undefined> {
	const { body } = await at('west').call('GET', `/ImagingStudy?identifier=urn:dicom:uid|urn:oid:${uid}`);
	return body.entry?.[0]?.resource;
}

const store = (...images: (Partial<GivenImage> & Pick<GivenImage, 'studyUid' | 'sopInstanceUid'>)[]) =>
	sendImages(
		service.port('dimse'),
		'WEST',
		images.map((image) => ({ seriesUid: `${image.studyUid}.1`, patientId: 'P1', patientIssuer: 'MRN', ...image })),
	);

describe('rows that are too old', () => {
	test('go by the times of their site, in batches; those of another site stay, and a preview says so before', async () => {
		for (const slug of ['west', 'east']) for (const number of [1, 2, 3]) await send(slug, adt(`m${number}`, 'P1', number));
		await keep('west', { message_retention_days: '30', history_retention_days: '30', accepted_retention_days: '60' });
		const ahead = await foreseen('west', 'messages', 29);
		assert.deepEqual([ahead.rows, ahead.oldest], [0, null]);
		const messages = await foreseen('west', 'messages', 31);
		assert.deepEqual([messages.rows, messages.days, messages.from], [3, 30, 'site']);
		assert.ok(messages.bytes > 600, String(messages.bytes));
		assert.equal(messages.oldest, (await oldestOf('message_log', 'received_at'))?.toISOString());
		const versions = await foreseen('west', 'history', 31);
		assert.deepEqual([versions.rows, versions.oldest], [2, (await oldestOf('resource_history', 'last_updated'))?.toISOString()]);
		assert.deepEqual(
			[(await foreseen('east', 'messages', 31)).rows, await count('message_log', 'west')],
			[0, 3],
			'a preview removes nothing',
		);

		const first = await run(31);
		assert.deepEqual(
			[removedOf(first, 'messages'), removedOf(first, 'history'), removedOf(first, 'accepted')],
			[[['west', 3]], [['west', 2]], []],
		);
		assert.deepEqual([await count('message_log', 'west'), await count('resource_history', 'west')], [0, 0]);
		assert.deepEqual([await count('message_log', 'east'), await count('resource_history', 'east')], [3, 2]);
		const { body } = await at('west').call('GET', '/Patient?identifier=P1');
		const patient = body.entry[0].resource;
		assert.deepEqual([body.total, patient.name[0].family], [1, 'Number3']);
		assert.equal((await at('west').call('GET', `/Patient/${patient.id}/_history/1`)).status, 404);
		assert.equal((await at('west').call('GET', `/Patient/${patient.id}/_history/3`)).status, 200);
	});

	test('are still recognised when they come again, until the time for that is over, too', async () => {
		await send('west', adt('m1', 'P1', 1));
		assert.equal((await study('none')) ?? 'none', 'none');
		const family = async () => (await at('west').call('GET', '/Patient?identifier=P1')).body.entry[0].resource.name[0].family;
		assert.equal(await family(), 'Number3', 'applied once, although the log has forgotten it');
		assert.deepEqual(removedOf(await run(61), 'accepted'), [['west', 3]]);
		assert.equal(await count('accepted_message', 'west'), 0);
		await send('west', adt('m1', 'P1', 1));
		assert.equal(await family(), 'Number1');
	});

	test('are unmatched messages, finished runs and figures of feeds, too; what belongs to no site follows the network', async () => {
		const [old, id] = [Date.now() - 500 * dayMs, (ms: number, n: number) => `${firstIdOf(ms).slice(0, 14)}7000-8000-00000000000${n}`];
		for (const [n, siteId] of [null, at('west').id].entries())
			await service.rows(
				`insert into unmatched_message (id, received_at, surface, source, reason, message_type, control_id, bytes, site_id)
				values ($1, $2, 'mllp', '198.51.100.1', 'no-sender', 'ADT^A08', 'x', 'x', $3)`,
				[id(old, n), new Date(old), siteId],
			);
		await service.rows(
			`insert into replay_run (site_id, id, actor, message_ids, state, started_at, finished_at) values ($1, $2, 'test', '{}', 'done', $3, $3)`,
			[at('west').id, id(old, 3), new Date(old)],
		);
		await service.rows(
			`insert into feed_hour (site_id, feed, hour, received, refused, last_at, received_by_minute, refused_by_minute, acknowledged)
			values ($1, 'f', $2, 1, 0, $2, '{}', '{}', '{}')`,
			[at('west').id, new Date(old)],
		);
		await keep('west', { unmatched_retention_days: '0' });
		const finished = await run(0);
		assert.deepEqual(
			[removedOf(finished, 'unmatched'), removedOf(finished, 'jobs'), removedOf(finished, 'feeds')],
			[[[null, 1]], [['west', 1]], [['west', 1]]],
		);
		await keep('west', { unmatched_retention_days: '' });
		assert.deepEqual(removedOf(await run(0), 'unmatched'), [['west', 1]]);
	});

	test('go by the month when no site keeps a row of it, and not while one does', async () => {
		const [first] = await service.rows<{ name: string; high: string }>(
			`select c.relname as name, substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([^'']+)''\\)') as high
			from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'message_log'::regclass and c.relname like '%before%'`,
		);
		assert.ok(first);
		const high = firstIdOf(Date.parse('2020-02-01T00:00:00Z'));
		await service.rows(
			`begin; create table message_log_202001 (like message_log including all);
			alter table message_log detach partition ${first.name};
			alter table message_log attach partition message_log_202001 for values from (minvalue) to ('${high}');
			alter table message_log attach partition ${first.name} for values from ('${high}') to ('${first.high}'); commit`,
		);
		const old = (slug: string, n: number) =>
			service.rows(
				`insert into message_log (site_id, id, sequence, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome, bytes, ack)
				values ($1, $2, 0, 'mllp', $1, '', '2020-01-10', '2020-01-10', 'ADT^A08', 'old', 'accepted', 'x', 'x')`,
				[at(slug).id, `${firstIdOf(Date.parse('2020-01-10')).slice(0, 14)}7000-8000-00000000000${n}`],
			);
		await old('west', 1);
		await old('east', 2);
		const [month] = (await service.rows("select to_regclass('message_log_202001') as name")) as { name: string | null }[];
		assert.equal(month?.name, 'message_log_202001');
		assert.deepEqual(removedOf(await run(0), 'messages'), [['west', 1]], 'east keeps its messages for ever');
		await old('west', 1);
		await keep('east', { message_retention_days: '365' });
		const { removed } = await run(0);
		assert.deepEqual(removed, [{ kept: 'messages', site: null, month: 'message_log_202001', rows: 2 }]);
		assert.deepEqual(await service.rows("select to_regclass('message_log_202001') as name"), [{ name: null }]);
		assert.equal(await count('message_log', 'east'), 3);
	});
});

describe('a study whose retention is over', () => {
	const uid = '1.2.826.0.1.77.1';
	let gone: string;

	test('goes with its images and objects, leaves a record with its reason, and FHIR answers 410', async () => {
		await store({ studyUid: uid, sopInstanceUid: `${uid}.1.1` }, { studyUid: uid, sopInstanceUid: `${uid}.1.2`, seriesUid: `${uid}.2` });
		await keep('west', { study_retention_days: '100' });
		gone = (await study(uid)).id;
		const keys = await service.rows<{ object_key: string }>('select object_key from imaging_instance where site_id = $1', [at('west').id]);
		for (const { object_key: key } of keys) assert.ok(await service.administration.objects.size(key));
		assert.equal((await foreseen('west', 'studies', 99)).rows, 0);
		const { rows, bytes, oldest } = await foreseen('west', 'studies', 101);
		assert.deepEqual([rows, oldest], [1, (await oldestOf('imaging_study', 'updated_at'))?.toISOString()]);
		assert.ok(bytes > 256);
		assert.deepEqual(removedOf(await run(101), 'studies'), [['west', 1]]);

		for (const table of ['imaging_study', 'imaging_series', 'imaging_instance']) assert.equal(await count(table, 'west'), 0, table);
		for (const { object_key: key } of keys) assert.equal(await service.administration.objects.size(key), undefined);
		for (const path of [`/ImagingStudy/${gone}`, `/ImagingStudy/${gone}/_history/1`, `/ImagingStudy/${gone}/_history`]) {
			const { status, body } = await at('west').call('GET', path);
			assert.deepEqual([status, body.issue[0].code], [410, 'deleted'], path);
		}
		assert.equal(await study(uid), undefined);
		assert.equal((await at('east').call('GET', `/ImagingStudy/${gone}`)).status, 404, 'another site is told nothing');
		const wado = await fetch(`http://127.0.0.1:${service.port('fhir')}/dicomweb/studies/${uid}/metadata`, {
			headers: { 'X-API-Key': at('west').key },
		});
		assert.equal(wado.status, 404);

		const [record] = await operate<FhirBody[]>('retention deleted', { site: 'west' });
		assert.deepEqual(
			[record.study_uid, record.reason_code, record.reason, record.instance_count, record.objects_removed],
			[uid, '113039', 'Data Retention Policy Expired', 2, true],
		);
		const [{ instances } = {}] = await service.rows<{ instances?: string[][] }>('select instances from deleted_study');
		assert.deepEqual(
			instances?.map(([, , sop]) => sop),
			[`${uid}.1.1`, `${uid}.1.2`],
		);
		const [event] = await service.rows<FhirBody>("select actor, subject, studies, detail from audit_event where action = 'study.delete'");
		assert.deepEqual([event.actor, event.subject, event.studies, event.detail.before.reason_code], ['test', uid, [uid], '113039']);
	});

	test('is taken as new when it comes again; what was deleted stays deleted', async () => {
		await store({ studyUid: uid, sopInstanceUid: `${uid}.1.1` });
		const anew = await study(uid);
		assert.equal(anew.numberOfInstances, 1);
		assert.notEqual(anew.id, gone);
		assert.equal((await at('west').call('GET', `/ImagingStudy/${gone}`)).status, 410);
		assert.equal((await at('west').call('GET', `/ImagingStudy/${anew.id}`)).status, 200);
		assert.deepEqual(removedOf(await run(101), 'studies'), [['west', 1]]);
	});

	test('stays while a person has not decided about an image in quarantine', async () => {
		await store({ studyUid: uid, sopInstanceUid: `${uid}.1.1` });
		await service.rows(
			`insert into imaging_conflict (site_id, id, sop_instance_uid, study_uid, digest, bytes, object_key, calling_ae, source, received_at)
			values ($1, $2, $3, $4, 'd', 1, 'k', '', '', now())`,
			[at('west').id, firstIdOf(Date.now()), `${uid}.1.1`, uid],
		);
		assert.deepEqual(removedOf(await run(101), 'studies'), []);
		await service.rows("delete from imaging_conflict where object_key = 'k'");
	});

	test('stays when a hold is placed while a run is about to delete it', async () => {
		const door = doorTo(service.databaseUrl);
		const { client, release } = await door.people.borrow();
		await client.query('begin');
		await client.query(
			"insert into legal_hold (site_id, id, study_uid, reason, placed_at, placed_by) values ($1, $1, $2, 'file', now(), 'test')",
			[at('west').id, uid],
		);
		const running = run(101);
		await eventually(
			async () => (await service.rows("select from pg_locks where relation = 'legal_hold'::regclass and not granted")).length > 0,
			'the run that waits for the hold',
		);
		await client.query('commit');
		release();
		const finished = await running;
		assert.deepEqual([removedOf(finished, 'studies'), removedOf(finished, 'messages')], [[], []]);
		assert.ok(await study(uid));
		await service.rows('delete from legal_hold');
		await door.close();
	});

	test('stays while the patient, or the study, is under a legal hold, and so does what the messages say', async () => {
		const other = '1.2.826.0.1.77.2';
		await send('west', adt('h1', 'P2', 9));
		await store({ studyUid: other, sopInstanceUid: `${other}.1.1`, patientId: 'P2' });
		const { id: patient } = (await at('west').call('GET', '/Patient?identifier=P1')).body.entry[0].resource;
		const { id: survivor } = (await at('west').call('GET', '/Patient?identifier=P2')).body.entry[0].resource;
		const held = await operate<FhirBody>('hold add', { site: 'west', patient, reason: 'file 1' });
		assert.deepEqual([held.patient, held.placed_by, held.lifted_at], [patient, 'test', null]);
		const ahead = await foreseen('west', 'studies', 101);
		assert.deepEqual([ahead.rows, ahead.held_studies], [1, 1]);
		assert.equal((await foreseen('west', 'messages', 101)).held, true);
		const logged = await count('message_log', 'west');
		const first = await run(101);
		assert.deepEqual([removedOf(first, 'studies'), removedOf(first, 'messages')], [[['west', 1]], []]);
		assert.deepEqual(
			[(await study(uid)) === undefined, await study(other), await count('message_log', 'west')],
			[false, undefined, logged],
		);

		// The patient is merged away: the survivor's studies are the same person's.
		await send('west', adt('h2', 'P2', 9, 'A40').replace(/\r$/, '\rMRG|P1^^^MRN^MR\r'));
		assert.notEqual((await study(uid)).subject.reference, `Patient/${patient}`);
		assert.equal((await study(uid)).subject.reference, `Patient/${survivor}`);
		assert.deepEqual(removedOf(await run(101), 'studies'), []);

		const ofStudy = await operate<FhirBody>('hold add', { site: 'west', study: uid, reason: 'file 2' });
		await operate('hold remove', { id: held.id, reason: 'closed' });
		assert.deepEqual(removedOf(await run(101), 'studies'), [], 'the study is held, too');
		assert.deepEqual(
			(await operate<FhirBody[]>('hold list', { site: 'west' })).map(({ id }) => id),
			[ofStudy.id],
		);
		await operate('hold remove', { id: ofStudy.id, reason: 'closed' });
		const last = await run(101);
		assert.deepEqual([removedOf(last, 'studies'), removedOf(last, 'messages').length], [[['west', 1]], 1]);
		const events = await service.rows<{ action: string }>("select action from audit_event where action like 'hold.%' order by id");
		assert.deepEqual(
			events.map(({ action }) => action),
			['hold.add', 'hold.add', 'hold.remove', 'hold.remove'],
		);
	});
});

describe('the node', () => {
	test('carries retention out by itself, one node at a time; objects that could not be removed go with the next run', async () => {
		const uid = '1.2.826.0.1.77.3';
		await store({ studyUid: uid, sopInstanceUid: `${uid}.1.1` });
		await service.rows('delete from retention_run');
		const door = doorTo(service.databaseUrl);
		const metrics = createMetrics({ processMetrics: false });
		const keepers: { close(): Promise<void> }[] = [];
		const begin = (remove: (key: string) => Promise<boolean>) =>
			keepers.push(
				keepRetention({
					...{ database: door.people, objects: { remove }, limits: defaultLimits, metrics, log: silentLog, firstMs: 0 },
					nowMs: () => Date.now() + 101 * dayMs,
				}),
			);
		const states = async () =>
			(await service.rows<{ state: string }>('select state from retention_run order by id')).map(({ state }) => state);
		try {
			for (const _ of [1, 2]) begin(() => Promise.reject(new Failure('unavailable', 'the object store does not answer')));
			await eventually(async () => (await states()).includes('failed'), 'the failed run');
			await eventually(async () => (await textOf(metrics)).includes('tributary_retention_failing 1'), 'the metric');
			assert.deepEqual(await states(), ['failed']);
			assert.equal(await study(uid), undefined, 'its rows went, and their record says what is left');
			const [record] = await operate<FhirBody[]>('retention deleted', { site: 'west', study: uid });
			assert.equal(record.objects_removed, false);
			begin((key) => service.administration.objects.remove(key));
			await pause(300);
			assert.deepEqual(await states(), ['failed'], 'it is tried again after an hour');
			await service.rows("update retention_run set started_at = now() - interval '2 hours'");
			begin((key) => service.administration.objects.remove(key));
			await eventually(async () => (await states()).includes('done'), 'the run');
			await eventually(async () => (await textOf(metrics)).includes('tributary_retention_failing 0'), 'the metric');
			const [whole] = await operate<FhirBody[]>('retention deleted', { site: 'west', study: uid });
			assert.equal(whole.objects_removed, true);
			const [latest] = await operate<FhirBody[]>('retention runs', { limit: 1 });
			assert.deepEqual([latest.asked_by, latest.state], ['retention', 'done']);
		} finally {
			for (const keeper of keepers) await keeper.close();
			await door.close();
		}
	});

	test('tells how full the disk and the database are', async () => {
		const door = doorTo(service.databaseUrl);
		const metrics = createMetrics({ processMetrics: false });
		const limits = { diskBudgetBytes: 1, databaseBudgetBytes: 1 };
		const watched = watchBudget({ dataDir: service.dataDir, database: door.people, limits, metrics, log: silentLog });
		await watched.close();
		const text = await textOf(metrics);
		for (const name of ['disk_bytes{kind="free"}', 'disk_bytes{kind="used"}', 'database_bytes'])
			assert.match(text, new RegExp(`^tributary_${name.replace(/[{}]/g, '\\$&')} [1-9]`, 'm'), name);
		const ratio = (store: string) => Number(new RegExp(`tributary_budget_used_ratio\\{store="${store}"\\} (\\S+)`).exec(text)?.[1]);
		assert.ok(ratio('disk') > 1 && ratio('database') > 1);
		await door.close();
	});

	test('lets only administrators say how long a site keeps its data', async () => {
		const operation = operations.find(({ name }) => name === 'site set') ?? assert.fail();
		const manager = { ...service.administration, actor: { name: 'm', role: 'manager' as const, sites: ['west'] } };
		await assert.rejects(perform(operation, manager, { slug: 'west', message_retention_days: '1' }), { fault: 'forbidden' });
	});
});
