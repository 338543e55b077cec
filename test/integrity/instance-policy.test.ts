import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { checkObjects } from '#administration/objects.ts';
import { setSite } from '#administration/sites.ts';
import { runCli } from '#cli/run.ts';
import { newId } from '#core/id.ts';
import { quarantineKey } from '#storage/objects/object-key.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { type SampleInstance, sampleDataSet } from '#test/support/data-set.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { associate, data, statusOf, store, value } from '#test/surfaces/dimse/peer.ts';
import { readConfig } from '../../src/config.ts';
import { remoteEcho, remoteSend } from '../../src/echo.ts';
import { processInPlace } from '../../src/ingest-in-place.ts';

let service: TestService;
const objects = () => configuredObjectStore({ DATA_DIR: service.dataDir });
const hours = (count: number) => Date.now() + count * 3_600_000;

before(async () => {
	service = await testService();
});
after(async () => {
	await service[Symbol.asyncDispose]();
});

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
	let out = '';
	let err = '';
	const code = await runCli(
		argv,
		{ stdout: { write: (text: string) => (out += text) }, stderr: { write: (text: string) => (err += text) } },
		{
			start: () => assert.fail('nothing is started'),
			processDelivery: processInPlace,
			openIngest: () => Promise.reject(new Error('nothing is imported')),
			remoteEcho,
			remoteSend,
			readConfig: () => readConfig({ DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir }),
			version: '9.9.9',
		},
	);
	return { code, out, err };
}

async function json(...argv: string[]) {
	const { code, out, err } = await run(...argv, '--json');
	assert.deepEqual([code, err], [0, ''], argv.join(' '));
	return JSON.parse(out);
}

/** A site of the test's own, and what its modality sends over one association. */
async function site(context: TestContext, slug: string, policy?: 'keep' | 'replace' | 'refuse') {
	const { site: added } = await service.addSite(slug);
	await setSite(service.administration, { slug, ae_title: slug.toUpperCase() });
	if (policy) assert.equal((await json('site', 'set', slug, '--instance-policy', policy)).instance_policy, policy);
	await eventually(async () => {
		const { socket, received, closed } = await associate(context, service.port('dimse'), { called: slug.toUpperCase() }).catch(() => ({
			socket: undefined,
			received: [],
			closed: Promise.resolve(),
		}));
		const accepted = received[0]?.type === 2;
		socket?.destroy();
		await closed;
		return accepted;
	}, 'the AE title');
	const peer = await associate(context, service.port('dimse'), { called: slug.toUpperCase() });
	let message = 0;
	const send = (content: string, given: Partial<SampleInstance> = {}) =>
		sendBytes(sampleDataSet({ pixels: Buffer.from(content.padEnd(content.length + (content.length % 2))), ...given }), given);
	const sendBytes = async (dataSet: Buffer, given: Partial<SampleInstance> = {}) => {
		message++;
		const command = store(message, { 4096: given.sopInstanceUid ?? '1.2.3.4.5' });
		const [answer] = await peer.ask(data(value(3, 'command', command), value(3, 'data', dataSet)));
		assert.ok(answer);
		return statusOf(answer);
	};
	const rows = (text: string) => service.rows(text, [added.id]);
	return {
		id: added.id,
		send,
		sendBytes,
		stored: () => rows('select study_uid, series_uid, digest, object_key, bytes::integer from imaging_instance where site_id = $1'),
		studies: () =>
			rows(`select study_uid, series_count, instance_count, bytes::integer, modalities, (select tributary_json(p.resource) #>> '{identifier,0,value}'
				from patient p where p.site_id = t.site_id and p.id = t.patient_id) as patient
				from imaging_study t where site_id = $1 order by study_uid`),
		series: () =>
			rows('select study_uid, series_uid, instance_count from imaging_series where site_id = $1 order by study_uid, series_uid'),
		conflicts: () =>
			rows('select id, settlement, settled_by, object_key, digest, bytes::integer from imaging_conflict where site_id = $1 order by id'),
	};
}

const check = (mending = { remove: false, repair: false }) => checkObjects(service.administration.database, objects(), hours(2), mending);
async function assertClean(): Promise<void> {
	const { objects_without_rows, rows_without_objects, misplaced } = await check();
	assert.deepEqual(
		{ objects_without_rows, rows_without_objects, misplaced },
		{ objects_without_rows: 0, rows_without_objects: 0, misplaced: 0 },
	);
}

describe('other content under a known SOP Instance UID', () => {
	test('keep: the first stays, the other is listed once, however often it comes', async (context) => {
		const west = await site(context, 'keep');
		assert.equal(await west.send('one'), 0);
		const before = [await west.stored(), await west.studies()];
		assert.equal(await west.send('two'), 0xb000);
		assert.equal(await west.send('two'), 0xb000);
		assert.deepEqual([await west.stored(), await west.studies()], before);
		const conflicts = await west.conflicts();
		assert.deepEqual(
			conflicts.map(({ settlement }) => settlement),
			[null],
		);
		assert.equal(await west.send('one'), 0);
		await assertClean();
	});

	test('replace: the last is the instance, what it replaced is kept; counts follow to another series and study', async (context) => {
		const east = await site(context, 'replace', 'replace');
		assert.equal(await east.send('a'), 0);
		assert.equal(await east.send('other', { sopInstanceUid: '1.2.3.4.6' }), 0);
		const [first] = (await east.stored()).filter(({ digest }) => digest);
		assert.ok(first);
		assert.equal(await east.send('aa', { seriesUid: '1.2.3.5' }), 0);
		assert.deepEqual(await east.series(), [
			{ study_uid: '1.2.3', series_uid: '1.2.3.4', instance_count: 1 },
			{ study_uid: '1.2.3', series_uid: '1.2.3.5', instance_count: 1 },
		]);
		assert.equal(await east.send('aaa', { studyUid: '1.2.9', patientId: 'P-2' }), 0);
		assert.deepEqual(await east.series(), [
			{ study_uid: '1.2.3', series_uid: '1.2.3.4', instance_count: 1 },
			{ study_uid: '1.2.9', series_uid: '1.2.3.4', instance_count: 1 },
		]);
		const stored = await east.stored();
		const sum = (uid: string) => stored.filter(({ study_uid }) => study_uid === uid).reduce((total, { bytes }) => total + Number(bytes), 0);
		assert.deepEqual(await east.studies(), [
			{ study_uid: '1.2.3', series_count: 1, instance_count: 1, bytes: sum('1.2.3'), modalities: ['CT'], patient: 'P-1' },
			{ study_uid: '1.2.9', series_count: 1, instance_count: 1, bytes: sum('1.2.9'), modalities: ['CT'], patient: 'P-2' },
		]);
		const conflicts = await east.conflicts();
		assert.deepEqual(
			conflicts.map(({ settlement }) => settlement),
			['replaced', 'replaced'],
		);
		assert.equal(conflicts[0]?.['digest'], first['digest']);
		for (const { object_key: key, bytes } of conflicts)
			assert.equal(await objects().size(quarantineKey(String(key))), Number(bytes), 'what was answered with success is kept');
		assert.deepEqual(await json('conflict', 'list', '--site', 'replace'), []);
		assert.equal((await json('conflict', 'list', '--site', 'replace', '--all')).length, 2);
		await assertClean();
	});

	test('replace: a study that is sent again with its right patient becomes that patient’s, and an empty one is gone', async (context) => {
		const south = await site(context, 'south', 'replace');
		for (const uid of ['1.1', '1.2']) assert.equal(await south.send('x', { sopInstanceUid: uid, patientId: 'WRONG' }), 0);
		for (const uid of ['1.1', '1.2']) assert.equal(await south.send('x', { sopInstanceUid: uid, patientId: 'RIGHT' }), 0);
		assert.deepEqual(
			(await south.studies()).map(({ patient, instance_count: count }) => [patient, count]),
			[['RIGHT', 2]],
		);
		for (const uid of ['1.1', '1.2']) assert.equal(await south.send('x', { sopInstanceUid: uid, studyUid: '1.2.77' }), 0);
		assert.deepEqual(
			(await south.studies()).map(({ study_uid: study, instance_count: count }) => [study, count]),
			[['1.2.77', 2]],
		);
		await assertClean();
	});

	test('refuse: 0xC111, nothing is kept', async (context) => {
		const north = await site(context, 'north', 'refuse');
		assert.equal(await north.send('one'), 0);
		const before = await check();
		assert.equal(await north.send('two'), 0xc111);
		assert.equal(await north.send('one'), 0);
		assert.deepEqual(await north.conflicts(), []);
		assert.deepEqual(await check(), before);
		assert.match(await exposed(), /^tributary_indexed_instances_total\{outcome="refused"\} 1$/m);
		assert.match(
			(await run('site', 'set', 'north', '--instance-policy', 'ask')).err,
			/--instance-policy must be keep or replace or refuse/,
		);
	});
});

describe('a data set that is cut off', () => {
	test('is refused wherever it ends within an element, and nothing of it is left', async (context) => {
		const cut = await site(context, 'cut');
		const whole = sampleDataSet({ pixels: Buffer.alloc(8192, 3) });
		for (const missing of [1, 1000, 8192 - 1, 8192 + 2, 8192 + 6, 8192 + 11]) {
			assert.equal(await cut.sendBytes(whole.subarray(0, -missing)), 0xc000, `${missing} bytes are missing`);
		}
		assert.deepEqual(await cut.stored(), []);
		await assertClean();
	});

	for (const policy of ['keep', 'refuse', 'replace'] as const) {
		test(`and was stored is replaced by the whole one with the policy ${policy}; it is kept aside, settled`, async (context) => {
			const beginning = await site(context, `begin-${policy}`, policy);
			// What ends between two elements cannot be told from a whole one.
			const whole = sampleDataSet({ pixels: Buffer.alloc(100_000, 3) });
			const stub = whole.subarray(0, whole.length - 100_012);
			assert.equal(await beginning.sendBytes(stub), 0);
			const [stored] = await beginning.stored();
			const other = Buffer.from(whole);
			other[700] = (other[700] ?? 0) ^ 1;
			const statuses = { keep: 0xb000, refuse: 0xc111 };
			if (policy !== 'replace') assert.equal(await beginning.sendBytes(other), statuses[policy]);
			assert.equal(await beginning.sendBytes(whole), 0);
			assert.equal(await beginning.sendBytes(whole), 0);
			const [now] = await beginning.stored();
			assert.ok(Number(now?.['bytes']) > 100_000);
			const aside = (await beginning.conflicts()).filter(({ digest }) => digest === stored?.['digest']);
			assert.deepEqual(
				aside.map(({ settlement, settled_by: by }) => [settlement, by]),
				[['replaced', null]],
			);
			assert.equal(await objects().size(quarantineKey(String(stored?.['object_key']))), Number(stored?.['bytes']));
			assert.equal((await json('conflict', 'list', '--site', `begin-${policy}`)).length, policy === 'keep' ? 1 : 0);
			await assertClean();
		});
	}
});

async function exposed(): Promise<string> {
	return (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
}

describe('a conflict', () => {
	test('is listed, shown with what differs, and settled for what is stored', async (context) => {
		const west = await site(context, 'desk');
		await west.send('one');
		await west.send('two', { patientId: 'P-9', seriesUid: '1.2.3.7' });
		const [listed, ...more] = await json('conflict', 'list', '--site', 'desk');
		assert.deepEqual([more, listed.site, listed.sop_instance_uid, listed.calling_ae], [[], 'desk', '1.2.3.4.5', 'CT1']);
		const shown = await json('conflict', 'show', listed.id);
		assert.deepEqual(shown.differences, [
			{ attribute: 'seriesUid', stored: '1.2.3.4', received: '1.2.3.7' },
			{ attribute: 'patient.id', stored: 'P-1', received: 'P-9' },
		]);
		assert.notEqual(shown.stored.digest, shown.received.digest);
		const before = await west.stored();
		const settled = await json('conflict', 'settle', listed.id, '--keep', 'stored');
		assert.equal(settled.settlement, 'stored');
		assert.match(settled.settled_by, /^cli:/);
		assert.deepEqual(await west.stored(), before);
		assert.deepEqual(await json('conflict', 'list', '--site', 'desk'), []);
		const audited = await service.rows('select actor, action, detail from audit_event where subject = $1 order by id', [listed.id]);
		assert.deepEqual(audited, [
			{ actor: settled.settled_by, action: 'conflict.read', detail: {} },
			{ actor: settled.settled_by, action: 'conflict.settle', detail: { sop_instance_uid: '1.2.3.4.5', keep: 'stored' } },
		]);
		assert.match((await run('conflict', 'settle', listed.id, '--keep', 'stored')).err, /is already settled/);
		assert.equal(await west.send('two', { patientId: 'P-9', seriesUid: '1.2.3.7' }), 0xb000);
		assert.deepEqual(await json('conflict', 'list', '--site', 'desk'), [], 'what was decided stays decided');
		await assertClean();
	});

	test('settled for what was received makes that the instance; that can be taken back', async (context) => {
		const west = await site(context, 'swap');
		await west.send('one');
		const [first] = await west.stored();
		await west.send('two', { studyUid: '1.2.8', patientId: 'P-8' });
		const [{ id }] = await json('conflict', 'list', '--site', 'swap');
		const settled = await json('conflict', 'settle', id, '--keep', 'received');
		assert.deepEqual([settled.settlement, settled.put_aside], ['received', true]);
		const [second] = await west.stored();
		assert.equal(second?.['study_uid'], '1.2.8');
		assert.notEqual(second?.['digest'], first?.['digest']);
		assert.ok(await objects().size(String(second?.['object_key'])));
		assert.deepEqual(
			(await west.studies()).map(({ study_uid: study, instance_count: count, patient }) => [study, count, patient]),
			[['1.2.8', 1, 'P-8']],
		);
		await assertClean();
		assert.match((await run('conflict', 'settle', id, '--keep', 'received')).err, /is already the instance/);
		const superseded = (await json('conflict', 'list', '--site', 'swap', '--all')).find(
			({ settlement }: { settlement: string }) => settlement === 'superseded',
		);
		await json('conflict', 'settle', superseded.id, '--keep', 'received');
		assert.deepEqual(await west.stored(), [first]);
		assert.deepEqual(
			(await west.studies()).map(({ study_uid: study, patient }) => [study, patient]),
			[['1.2.3', 'P-1']],
		);
		await assertClean();
	});

	test('and another of the same instance, both settled for what was received at once, leave one instance and lose nothing', async (context) => {
		const west = await site(context, 'race');
		for (const content of ['one', 'two', 'three', 'four']) await west.send(content);
		const open = await json('conflict', 'list', '--site', 'race');
		assert.equal(open.length, 3);
		await Promise.all(open.map(({ id }: { id: string }) => json('conflict', 'settle', id, '--keep', 'received')));
		const stored = await west.stored();
		assert.equal(stored.length, 1);
		assert.ok(await objects().size(String(stored[0]?.['object_key'])));
		assert.deepEqual(
			(await west.studies()).map(({ instance_count: count }) => count),
			[1],
		);
		const contents = new Set((await west.conflicts()).map(({ digest }) => digest).concat(stored.map(({ digest }) => digest)));
		assert.equal(contents.size, 4);
		await assertClean();
	});

	test('of one image of a study does not move the study to another patient', async (context) => {
		const west = await site(context, 'single');
		for (const uid of ['1.1', '1.2']) await west.send('x', { sopInstanceUid: uid });
		await west.send('y', { sopInstanceUid: '1.1', patientId: 'P-8' });
		const [{ id }] = await json('conflict', 'list', '--site', 'single');
		await json('conflict', 'settle', id, '--keep', 'received');
		assert.deepEqual(
			(await west.studies()).map(({ patient, instance_count: count }) => [patient, count]),
			[['P-1', 2]],
		);
	});

	test('that is not there, or whose object is lost, is said to be so', async (context) => {
		assert.match((await run('conflict', 'show', newId())).err, /there is no conflict/);
		assert.equal((await run('conflict', 'settle', 'x', '--keep', 'stored')).code, 1);
		assert.equal((await run('conflict', 'settle', newId())).code, 2);
		assert.match((await run('conflict', 'list', '--site', 'nowhere')).err, /no site/);
		const west = await site(context, 'lost');
		await west.send('one');
		await west.send('two');
		const [{ id, object_key: key } = { id: '', object_key: '' }] = await west.conflicts();
		await objects().remove(quarantineKey(String(key)));
		assert.equal((await json('conflict', 'show', String(id))).received.attributes, null);
		assert.match((await run('conflict', 'settle', String(id), '--keep', 'received')).err, /not in the object store/);
		assert.equal((await check()).rows_without_objects, 1);
		assert.equal((await json('conflict', 'settle', String(id), '--keep', 'stored')).settlement, 'stored');
	});

	test('that is open is counted for its site', async (context) => {
		const west = await site(context, 'gauge');
		await west.send('one');
		await west.send('two');
		await service.restart();
		const text = await exposed();
		assert.match(text, /^tributary_imaging_conflicts_open\{site="gauge"\} 1$/m);
		assert.match(text, /^tributary_imaging_conflicts_open\{site="desk"\} 0$/m);
	});
});

describe('a conflict about objects that are files of their own', () => {
	let segmented: TestService;
	before(async () => {
		segmented = service;
		service = await testService({ SEGMENTED_OBJECT_BYTES_MAX: '0' });
	});
	after(async () => {
		await service[Symbol.asyncDispose]();
		service = segmented;
	});

	test('whose settling ended halfway loses nothing, and is mended', async (context) => {
		const west = await site(context, 'halfway');
		await west.send('one');
		await west.send('two');
		const [{ id }] = await json('conflict', 'list', '--site', 'halfway');
		const [{ object_key: key } = { object_key: '' }] = await west.conflicts();
		// As a process that ended between the move of the object and the commit leaves it.
		await objects().move(quarantineKey(String(key)), String(key));
		assert.match((await run('conflict', 'settle', id, '--keep', 'received')).err, /still being moved into quarantine/);
		const found = await check();
		assert.deepEqual([found.objects_without_rows, found.rows_without_objects, found.misplaced, found.moved], [0, 0, 1, 0]);
		assert.equal((await check({ remove: true, repair: true })).moved, 1);
		await assertClean();
		assert.equal((await json('conflict', 'settle', id, '--keep', 'received')).settlement, 'received');
		// And as one that ended after the commit.
		const [{ object_key: instance } = { object_key: '' }] = await west.stored();
		const superseded = (await west.conflicts()).find(({ settlement }) => settlement === 'superseded');
		await objects().move(quarantineKey(String(superseded?.['object_key'])), String(superseded?.['object_key']));
		await objects().move(String(instance), quarantineKey(String(instance)));
		assert.equal((await check({ remove: true, repair: true })).moved, 2);
		await assertClean();
	});
});
