import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { runCli } from '#cli/run.ts';
import { newId } from '#core/id.ts';
import { opened, sendImages } from '#test/support/images.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { readConfig } from '../../src/config.ts';
import { remoteEcho, remoteSend } from '../../src/echo.ts';
import { processInPlace } from '../../src/ingest-in-place.ts';

let service: TestService;
const keys: Record<string, string> = {};
const ids: string[] = [];

async function report(site: string, body: object): Promise<string> {
	const answer = await fetch(`http://127.0.0.1:${service.port('mpps')}/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': keys[site] ?? '', 'Content-Type': 'application/json' },
		body: JSON.stringify(body),
	});
	const { session_id } = (await answer.json()) as { session_id?: string };
	return session_id ?? '';
}

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
	let out = '';
	let err = '';
	const stdout = { write: (text: string) => (out += text) };
	const stderr = { write: (text: string) => (err += text) };
	const code = await runCli(
		argv,
		{ stdout, stderr },
		{
			start: () => assert.fail('nothing is started'),
			processDelivery: processInPlace,
			openIngest: () => Promise.reject(new Error('nothing is imported')),
			remoteEcho,
			remoteSend,
			readConfig: () => readConfig({ DATABASE_URL: service.databaseUrl }),
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

before(async () => {
	service = await testService();
	for (const site of ['west', 'east']) keys[site] = (await service.addSite(site)).key;
	const attributes = { '00100020': { vr: 'LO', Value: ['4711'] }, '00080050': { vr: 'SH', Value: ['A1'] } };
	const step = { sop_instance_uid: '1.2.1', study_uid: '1.2.10', status: 'IN PROGRESS' };
	ids.push(await report('west', { ...step, attributes }));
	ids.push(await report('west', { ...step, sop_instance_uid: '1.2.2', study_uid: '1.2.20', status: 'COMPLETED' }));
	ids.push(await report('east', step));
	await report('west', { ...step, status: 'DISCONTINUED', attributes: { reason: 'patient left' } });
	await report('west', { ...step, status: 'COMPLETED' });
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

describe('mpps list', () => {
	test('finds a step by each study of a group case', async () => {
		const scheduled = ['1.2.90', '1.2.91'].map((uid) => ({ '0020000D': { vr: 'UI', Value: [uid] } }));
		const attributes = { '00400270': { vr: 'SQ', Value: scheduled } };
		const id = await report('west', { sop_instance_uid: '1.2.9', study_uid: '1.2.90', status: 'COMPLETED', attributes });
		for (const study of ['1.2.90', '1.2.91']) {
			const [found, ...more] = await json('mpps', 'list', '--study', study);
			assert.deepEqual([found.id, found.study_uid, found.other_study_uids, more], [id, '1.2.90', ['1.2.91'], []]);
		}
		await service.rows(`delete from mpps_session where sop_instance_uid = '1.2.9'`);
	});

	test('shows the procedure steps newest first, by site, status, study, patient and accession, page by page', async () => {
		const listed = async (...filters: string[]) =>
			(await json('mpps', 'list', ...filters)).map(({ id }: { id: string }) => ids.indexOf(id));
		assert.deepEqual(await listed(), [2, 1, 0]);
		assert.deepEqual(await listed('--site', 'west'), [1, 0]);
		assert.deepEqual(await listed('--site', 'east'), [2]);
		assert.deepEqual(await listed('--status', 'in-progress'), [2]);
		assert.deepEqual(await listed('--status', 'DISCONTINUED'), [0]);
		assert.deepEqual(await listed('--study', '1.2.20'), [1]);
		assert.deepEqual(await listed('--patient', '47'), [0]);
		assert.deepEqual(await listed('--accession', 'a'), [0]);
		assert.deepEqual(await listed('--accession', 'A1', '--site', 'east'), []);
		assert.deepEqual(await listed('--limit', '1'), [2]);
		assert.deepEqual(await listed('--before', ids[1] ?? ''), [0]);
		assert.match((await run('mpps', 'list')).out, /^id +site +sop_instance_uid +study_uid +status +late /);
	});

	test('refuses a status, a site or a position that is none', async () => {
		for (const [option, value, wrong, text] of [
			['--status', 'scheduled', 2, /--status must be IN PROGRESS or COMPLETED or DISCONTINUED/],
			['--site', 'nowhere', 1, /no site 'nowhere'/],
			['--before', 'x', 2, /--before must be an id/],
		] as const) {
			const { code, out, err } = await run('mpps', 'list', option, value, '--json');
			assert.deepEqual([code, out], [wrong, '']);
			assert.match(err, text);
		}
	});
});

describe('mpps show', () => {
	test('has the attributes and every report that was accepted', async () => {
		const shown = await json('mpps', 'show', ids[0] ?? '');
		assert.deepEqual(
			[shown.site, shown.status, shown.late, shown.patient_id, shown.accession_number, shown.reports],
			['west', 'DISCONTINUED', false, '4711', 'A1', 2],
		);
		assert.equal(shown.attributes.reason, 'patient left');
		assert.deepEqual(
			shown.history.map(({ number, status, attributes }: { number: number; status: string; attributes: object }) => [
				number,
				status,
				Object.keys(attributes),
			]),
			[
				[1, 'IN PROGRESS', ['00100020', '00080050']],
				[2, 'DISCONTINUED', ['reason']],
			],
		);
		const logged = await json('messages', 'show', shown.history[1].message_id);
		assert.deepEqual([logged.surface, logged.message_type, logged.control_id], ['mpps', 'MPPS DISCONTINUED', '1.2.1']);
		assert.deepEqual(logged.changed, [`mpps/${ids[0]}/2`]);
	});

	test('finds it by SOP Instance UID, of the site where several have it', async () => {
		assert.equal((await json('mpps', 'show', '1.2.2')).id, ids[1]);
		assert.equal((await json('mpps', 'show', '1.2.1', '--site', 'east')).id, ids[2]);
		assert.match((await run('mpps', 'show', '1.2.1')).err, /several sites/);
		for (const id of ['1.2.99', newId(), "' or 1=1"]) assert.equal((await run('mpps', 'show', id)).code, 1);
	});
});

describe('messages', () => {
	test('list what was refused with its reason, and replay it', async () => {
		const [refused] = await json('messages', 'list', '--site', 'west', '--outcome', 'refused');
		assert.deepEqual([refused.surface, refused.message_type, refused.failure_code], ['mpps', 'MPPS COMPLETED', 'conflict']);
		const [again] = await json('messages', 'replay', refused.id);
		assert.deepEqual([again.outcome, again.replay_of], ['refused', refused.id]);
		await service.rows('delete from mpps_session where id = $1', [ids[0]]);
		const [taken] = await json('messages', 'replay', again.id);
		assert.deepEqual([taken.outcome, taken.failure], ['accepted', null], 'a replay of a replay is still a report');
		assert.equal((await json('mpps', 'show', '1.2.1', '--site', 'west')).status, 'COMPLETED');
	});
});

describe('the study of a procedure step', () => {
	const series = (...uids: string[]) => ({
		'00400340': { vr: 'SQ', Value: uids.map((uid) => ({ '0020000E': { vr: 'UI', Value: [uid] } })) },
	});
	const image = (studyUid: string, seriesUid: string, number: number) => ({
		studyUid,
		seriesUid,
		sopInstanceUid: `${seriesUid}.${number}`,
		modality: 'CT',
	});
	const send = (...images: ReturnType<typeof image>[]) => sendImages(service.port('dimse'), 'NORTH', images);
	const unknown = { imaging_study_id: null, study_series: null, study_instances: null };
	async function shown(id: string) {
		const { imaging_study_id, study_series, study_instances, missing_series_uids } = await json('mpps', 'show', id);
		const [listed] = (await json('mpps', 'list', '--site', 'north')).filter((session: { id: string }) => session.id === id);
		const study = { imaging_study_id, study_series, study_instances };
		assert.deepEqual({ ...listed, ...study }, listed);
		return { study, missing: missing_series_uids };
	}
	const studyId = async (uid: string) => {
		const [{ id }] = (await service.rows<{ id: string }>(
			'select t.id from imaging_study t join site s on s.id = t.site_id where s.slug = $1 and t.study_uid = $2',
			['north', uid],
		)) as [{ id: string }];
		return id;
	};

	before(async () => {
		keys['north'] = (await service.addSite('north')).key;
		await opened(service, 'north');
	});

	test('is found when it arrives after the step', async () => {
		const step = { sop_instance_uid: '1.3.1', study_uid: '1.3.10', status: 'IN PROGRESS', attributes: series('1.3.10.2', '1.3.10.1') };
		const id = await report('north', step);
		assert.deepEqual(await shown(id), { study: unknown, missing: ['1.3.10.2', '1.3.10.1'] });
		await send(image('1.3.10', '1.3.10.1', 1), image('1.3.10', '1.3.10.1', 2));
		const study = { imaging_study_id: await studyId('1.3.10'), study_series: 1, study_instances: 2 };
		assert.deepEqual(await shown(id), { study, missing: ['1.3.10.2'] });
		await send(image('1.3.10', '1.3.10.2', 1));
		assert.deepEqual(await shown(id), { study: { ...study, study_series: 2, study_instances: 3 }, missing: [] });
		const { body, status } = await service.fhir(`/fhir/ImagingStudy/${study.imaging_study_id}`, keys['north'] ?? '');
		assert.deepEqual([status, body.numberOfInstances], [200, 3]);
	});

	test('is linked by the step that arrives after it, and by every step of it', async () => {
		await send(image('1.3.20', '1.3.20.1', 1));
		const study = { imaging_study_id: await studyId('1.3.20'), study_series: 1, study_instances: 1 };
		for (const uid of ['1.3.2', '1.3.3']) {
			const id = await report('north', { sop_instance_uid: uid, study_uid: '1.3.20', status: 'COMPLETED', attributes: {} });
			assert.deepEqual(await shown(id), { study, missing: [] });
		}
	});

	test('is that of its own site only', async () => {
		const id = await report('west', {
			sop_instance_uid: '1.3.4',
			study_uid: '1.3.20',
			status: 'COMPLETED',
			attributes: series('1.3.20.1'),
		});
		const session = await json('mpps', 'show', id);
		assert.deepEqual({ ...session, ...unknown }, session);
		assert.deepEqual(session.missing_series_uids, ['1.3.20.1']);
	});
});
