import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { z } from 'zod';
import { listClients } from '#administration/clients.ts';
import type { OperationContext } from '#administration/context.ts';
import { type replayRunRecord, showReplay } from '#administration/failures.ts';
import { showLoggedMessage } from '#administration/messages.ts';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { ReplayRuns } from '#administration/replay-runs.ts';
import { silentLog } from '#core/log.ts';
import { clinicalDocument } from '#test/support/cda.ts';
import { entry, section } from '#test/support/cda-sections.ts';
import { element } from '#test/support/data-set.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';

type Run = z.output<typeof replayRunRecord>;

/** An admission and a result, whose times have no offset, and a late preliminary result that changes nothing. */
const admission = (patient: string) =>
	`MSH|^~\\&|ADT|HOSPITAL|||20260701120000||ADT^A01|A${patient}|P|2.5.1\rPID|1||${patient}^^^MRN\rPV1|1|I|||||||||||||||||V${patient}^^^MRN|||||||||||||||||||||||||202607011130\r`;
const discharge = (patient: string) =>
	`MSH|^~\\&|ADT|HOSPITAL|||20260702120000||ADT^A08|D${patient}|P|2.5.1\rPID|1||${patient}^^^MRN\rPV1|1|I|||||||||||||||||V${patient}^^^MRN||||||||||||||||||||||||||202607021000\r`;
const result = (patient: string, id: string, status: string, observed = '202607011230', value = '13.20') =>
	`MSH|^~\\&|LAB|HOSPITAL|||20260701130000||ORU^R01|${id}|P|2.5.1\rPID|1||${patient}^^^MRN\rOBR|1||F${patient}|718-7^Hemoglobin^LN|||${observed}|||||||||||||||202607011245|||${status}\rOBX|1|NM|718-7^Hemoglobin^LN||${value}|g/dL|||||${status}|||${observed}\r`;

describe('local times of stored messages, read anew', () => {
	let service: TestService;
	before(async () => {
		service = await testService();
	});
	after(() => service[Symbol.asyncDispose]());

	async function set(name: string, input: object, context: OperationContext = service.administration): Promise<Run> {
		const operation = operations.find((each) => each.name === name);
		assert.ok(operation);
		const { rederivation } = (await perform(operation, context, { rederive: true, ...input })) as { rederivation: Run };
		return ended(rederivation.id);
	}
	const sender = async (site: string) => (await listClients(service.administration)).find((client) => client.site === site)?.id ?? '';
	async function ended(id: string): Promise<Run> {
		let run = await showReplay(service.administration, id);
		await eventually(async () => {
			run = await showReplay(service.administration, id);
			return run.state !== 'running';
		}, 'the end of the run');
		assert.equal(run.state, 'done', run.failure ?? '');
		return run;
	}
	async function sent(address: string, ...messages: string[]): Promise<void> {
		const client = await MllpClient.connect(service.port('mllp'), address);
		for (const message of messages) assert.equal(msa(await client.send(message)).code, 'AA');
		client.close();
	}
	const first = async (key: string, query: string) => (await service.fhir(`/fhir/${query}`, key)).body.entry?.[0]?.resource;
	async function timesOf(key: string, patient: string) {
		const visit = await first(key, `Encounter?identifier=V${patient}`);
		const value = await first(key, `Observation?patient.identifier=${patient}`);
		const report = await first(key, `DiagnosticReport?patient.identifier=${patient}`);
		return { period: visit?.period, effective: value?.effectiveDateTime, issued: value?.issued, reported: report?.issued };
	}
	const zoneOf = async (site: string, controlId: string) => {
		const [row] = await service.rows<{ id: string }>(
			'select m.id from message_log m join site s on s.id = m.site_id where s.slug = $1 and m.control_id = $2',
			[site, controlId],
		);
		const { settings, flags } = await showLoggedMessage(service.administration, row?.id ?? '');
		return [settings?.['time_zone'], flags.map(({ code }) => code)];
	};

	test('of ADT, ORU and C-STORE become those of the new zone, and again those of the first', async () => {
		const { key, called } = await addImagingSite(service, 'north');
		await set('site set', { slug: 'north', time_zone: 'UTC', rederive: false }).catch(() => undefined);
		const address = '127.0.0.1';
		await sent(address, admission('1'), result('1', 'R1', 'F'), result('1', 'R2', 'P', '202607011230', '9'), discharge('1'));
		using scu = await StorageScu.open(service.port('dimse'), { called });
		const stated = ctInstance({ sopInstanceUid: '1.2.3.77.1', studyUid: '1.2.3.77', seriesUid: '1.2.3.77.9' });
		const at = stated.dataSet.indexOf(element(0x0008_1010, 'SH', 'CT-SCANNER-2'));
		const dataSet = Buffer.concat([stated.dataSet.subarray(0, at), element(0x0008_0201, 'SH', '-0330'), stated.dataSet.subarray(at)]);
		assert.equal((await scu.store({ ...stated, dataSet })).status, 0);
		assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.3.78.1', studyUid: '1.2.3.78', seriesUid: '1.2.3.78.9' }))).status, 0);
		await scu.release();
		const studies = async () => {
			const { body } = await service.fhir('/fhir/ImagingStudy?_sort=started', key);
			return body.entry.map(({ resource }: { resource: { started: string; series: { started: string }[] } }) => [
				resource.started,
				resource.series[0]?.started,
			]);
		};
		const [before, imagesBefore] = [await timesOf(key, '1'), await studies()];
		assert.deepEqual(before.period, { start: '2026-07-01T11:30:00Z', end: '2026-07-02T10:00:00Z' });

		const preview = await set('site set', { slug: 'north', time_zone: 'Europe/Berlin', preview: true });
		assert.deepEqual([await timesOf(key, '1'), await studies()], [before, imagesBefore]);
		const run = await set('site set', { slug: 'north', time_zone: 'Europe/Berlin' });
		assert.deepEqual({ ...run.times, preview: true }, preview.times);
		assert.deepEqual(run.times, {
			...{ time_zone: 'Europe/Berlin', assumed: false, of: 'site', subject: 'north', preview: false },
			...{ messages: 4, read_before_by: { UTC: 4 }, own_offset: 0, bytes_gone: 0, unreadable: 0, studies_stated: 1 },
			...{ changed: { DiagnosticReport: 1, Encounter: 1, ImagingStudy: 1, Observation: 1 }, stayed: {} },
		});
		assert.deepEqual(await timesOf(key, '1'), {
			period: { start: '2026-07-01T11:30:00+02:00', end: '2026-07-02T10:00:00+02:00' },
			effective: '2026-07-01T12:30:00+02:00',
			issued: '2026-07-01T12:45:00+02:00',
			reported: '2026-07-01T12:45:00+02:00',
		});
		const found = await service.fhir('/fhir/Observation?date=2026-07-01T10:30:00Z', key);
		assert.equal(found.body.entry?.length, 1, 'a search finds the corrected moment');
		assert.deepEqual((await first(key, 'Observation?patient.identifier=1')).valueQuantity.value, 13.2);
		assert.deepEqual(await zoneOf('north', 'R1'), ['Europe/Berlin', []]);
		assert.deepEqual(await studies(), [
			['2024-01-31T10:20:30+01:00', '2024-01-31T10:21:00+01:00'],
			['2024-01-31T10:20:30-03:30', '2024-01-31T10:21:00-03:30'],
		]);
		const [sentAt] = await service.rows<{ sent_at: string }>(
			'select o.sent_at from observation o join site s on s.id = o.site_id where s.slug = $1',
			['north'],
		);
		assert.equal(sentAt?.sent_at, '2026-07-01T13:00:00+02:00');

		await set('site set', { slug: 'north', time_zone: 'UTC' });
		assert.deepEqual([await timesOf(key, '1'), await studies()], [before, imagesBefore]);
		assert.deepEqual(await zoneOf('north', 'R1'), ['UTC', []]);
		const audit = await service.rows<{ detail: { before: object; after: { changed: object } } }>(
			"select detail from audit_event where action = 'site.rederive' and subject = 'north' order by id",
		);
		assert.deepEqual(
			audit.map(({ detail }) => detail.before),
			[{ messages_by_time_zone: { UTC: 4 } }, { messages_by_time_zone: { 'Europe/Berlin': 4 } }],
		);
	});

	test('stay where a FHIR client, a later message with an offset or another sender has written since', async () => {
		const { key } = await service.addSite('south', { allowed_ips: ['127.30.0.1'] });
		const call = fhirClient(service, key);
		await sent(
			'127.30.0.1',
			admission('1'),
			admission('2'),
			admission('3'),
			result('1', 'R1', 'F'),
			result('3', 'R3', 'F'),
			discharge('3'),
		);
		// A client writes a whole result; a later message corrects the admission, with its own offset.
		const value = await first(key, 'Observation?patient.identifier=3');
		assert.equal((await call('PUT', `/Observation/${value.id}`, { ...value, language: 'en' })).status, 200);
		const corrected = admission('2')
			.replaceAll('202607011130', '202607011100+0000')
			.replace('|A2|', '|C2|')
			.replace('20260701120000|', '20260701120000+0000|');
		await sent('127.30.0.1', corrected);
		// A message that states offsets throughout is not read anew, nor is one whose bytes are gone.
		await service.rows("update message_log set bytes = '' where control_id = 'R1'");
		const input = { slug: 'south', time_zone: 'America/New_York' };
		const preview = await set('site set', { ...input, preview: true });
		const run = await set('site set', input);
		assert.deepEqual({ ...run.times, preview: true }, preview.times);
		const { messages, own_offset, bytes_gone, changed, stayed } = run.times ?? {};
		assert.deepEqual([messages, own_offset, bytes_gone], [5, 1, 1]);
		assert.deepEqual(
			[changed, stayed],
			[
				{ DiagnosticReport: 1, Encounter: 2 },
				{ Encounter: 1, Observation: 1 },
			],
		);
		const [one, two, three] = [await timesOf(key, '1'), await timesOf(key, '2'), await timesOf(key, '3')];
		assert.deepEqual([one.period.start, one.effective], ['2026-07-01T11:30:00-04:00', '2026-07-01T12:30:00Z']);
		assert.deepEqual([three.effective, three.reported], ['2026-07-01T12:30:00Z', '2026-07-01T12:45:00-04:00']);
		assert.equal(two.period.start, '2026-07-01T11:00:00+00:00');
		assert.deepEqual(three.period, { start: '2026-07-01T11:30:00-04:00', end: '2026-07-02T10:00:00-04:00' });
		const versions = await service.fhir(`/fhir/Encounter/${(await first(key, 'Encounter?identifier=V3')).id}/_history`, key);
		assert.deepEqual(
			versions.body.entry.map(({ resource }: { resource: { period: object; meta: object } }) => resource.period),
			[
				{ start: '2026-07-01T11:30:00-04:00', end: '2026-07-02T10:00:00-04:00' },
				{ start: '2026-07-01T11:30:00Z', end: '2026-07-02T10:00:00Z' },
				{ start: '2026-07-01T11:30:00Z' },
			],
			'one run makes one version',
		);
	});

	test('of one client or key only; the flag of an assumed zone goes and comes with it', async () => {
		const { key } = await service.addSite('east', { allowed_ips: ['127.30.0.2'] });
		await set('site set', { slug: 'east', time_zone: '' });
		const id = await sender('east');
		const post = (message: string) =>
			fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, { method: 'POST', headers: { 'X-API-Key': key }, body: message });
		await sent('127.30.0.2', admission('1'));
		assert.equal((await post(admission('2'))).status, 200);
		assert.deepEqual(await zoneOf('east', 'A1'), ['UTC', ['time-zone-assumed']]);
		const ofClient = await set('client set', { id, time_zone: 'Asia/Tokyo' });
		assert.deepEqual([ofClient.times?.of, ofClient.times?.messages, ofClient.times?.changed], ['client', 1, { Encounter: 1 }]);
		assert.deepEqual(await zoneOf('east', 'A1'), ['Asia/Tokyo', []]);
		// The zone of the site holds for the others.
		const ofSite = await set('site set', { slug: 'east', time_zone: 'Europe/Paris' });
		assert.equal(ofSite.times?.messages, 1);
		const ofKey = await set('key set', { id: key.split('_')[1], time_zone: 'Asia/Kolkata' });
		assert.equal(ofKey.times?.messages, 1);
		const starts = [(await timesOf(key, '1')).period.start, (await timesOf(key, '2')).period.start];
		assert.deepEqual(starts, ['2026-07-01T11:30:00+09:00', '2026-07-01T11:30:00+05:30']);
		// Without a zone of its own the client follows its site, and then the host again.
		await set('client set', { id, time_zone: '' });
		await set('site set', { slug: 'east', time_zone: '' });
		assert.deepEqual(await zoneOf('east', 'A1'), ['UTC', ['time-zone-assumed']]);
		assert.equal((await timesOf(key, '1')).period.start, '2026-07-01T11:30:00Z');
	});

	test('of procedure steps are those of all their reports, read by the new zone', async () => {
		const { key } = await service.addSite('steps', { allowed_ips: ['127.30.0.5'] });
		const report = async (status: string, attributes: object) => {
			const answer = await fetch(`http://127.0.0.1:${service.port('mpps')}/ingest`, {
				method: 'POST',
				headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
				body: JSON.stringify({ sop_instance_uid: '1.2.3.9', study_uid: '1.2.3', status, attributes }),
			});
			assert.equal(answer.status, 200, await answer.text());
		};
		const at = (date: string, time: string) => ({ [date]: { vr: 'DA', Value: ['20260701'] }, [time]: { vr: 'TM', Value: ['120000'] } });
		await report('IN PROGRESS', at('00400244', '00400245'));
		await report('COMPLETED', at('00400250', '00400251'));
		const times = () => service.rows('select started, ended from mpps_session where sop_instance_uid = $1', ['1.2.3.9']);
		const before = await times();
		const preview = await set('site set', { slug: 'steps', time_zone: 'Europe/Berlin', preview: true });
		const run = await set('site set', { slug: 'steps', time_zone: 'Europe/Berlin' });
		assert.deepEqual({ ...run.times, preview: true }, preview.times);
		assert.deepEqual([run.times?.messages, run.times?.changed], [2, { mpps: 1 }]);
		assert.deepEqual(await times(), [{ started: '2026-07-01T12:00:00+02:00', ended: '2026-07-01T12:00:00+02:00' }]);
		await set('site set', { slug: 'steps', time_zone: 'UTC' });
		assert.deepEqual(await times(), before);
	});

	test('of procedures and of entries of documents find them again, although they are found by their times', async () => {
		const { key } = await service.addSite('items', { allowed_ips: ['127.30.0.6'] });
		const operated = (id: string) => `${admission('1').replace('|A1|', `|${id}|`)}PR1|1||45380^Colonoscopy^C4||202607011100\r`;
		const measured =
			'<observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.27"/>' +
			'<code code="8867-4" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/><effectiveTime value="20260701100000"/>' +
			'<value xsi:type="PQ" value="70" unit="/min"/></observation>';
		const document = (version: number, effectiveTime: string) =>
			fetch(`http://127.0.0.1:${service.port('hl7')}/v3/ingest`, {
				method: 'POST',
				headers: { 'X-API-Key': key, 'Content-Type': 'application/xml' },
				body: clinicalDocument({
					...{ id: `root="1.2.3.4" extension="${version}"`, set: 'root="1.2.3.5" extension="S"', version, effectiveTime },
					body: `<component><structuredBody>${section('8716-3', entry(measured), 'x')}</structuredBody></component>`,
				}),
			}).then(({ status }) => status);
		await sent('127.30.0.6', operated('O1'));
		assert.equal(await document(1, '20260701110000'), 200);
		const run = await set('site set', { slug: 'items', time_zone: 'America/New_York' });
		assert.deepEqual(run.times?.changed, { DocumentReference: 1, Encounter: 1, Observation: 1, Procedure: 1 });
		await sent('127.30.0.6', operated('O2'));
		assert.equal(await document(2, '20260701120000'), 200);
		const found = async (query: string) =>
			(await service.fhir(`/fhir/${query}`, key)).body.entry?.map(({ resource }: { resource: FhirBody }) => resource) ?? [];
		const procedures = await found('Procedure');
		assert.deepEqual(
			procedures.map(({ performedDateTime, meta }: FhirBody) => [performedDateTime, meta.versionId]),
			[['2026-07-01T11:00:00-04:00', '2']],
		);
		const values = await found('Observation');
		assert.deepEqual(
			values.map(({ effectiveDateTime, status }: FhirBody) => [effectiveDateTime, status]),
			[['2026-07-01T10:00:00-04:00', 'final']],
		);
		const entries = await service.rows(
			'select distinct e.stated_at from document_entry e join site s on s.id = e.site_id where s.slug = $1 order by 1',
			['items'],
		);
		assert.deepEqual(entries, [{ stated_at: '2026-07-01T15:00:00.000Z' }, { stated_at: '2026-07-01T16:00:00.000Z' }]);
	});

	test('of results decide as before which statement is late', async () => {
		const { key } = await service.addSite('west', { allowed_ips: ['127.30.0.3'] });
		await sent('127.30.0.3', result('1', 'R1', 'P'), result('1', 'R2', 'F', '202607011230', '14'));
		await sent(
			'127.30.0.3',
			result('2', 'R0', 'F').replaceAll('202607011230', '202607011230+0000').replaceAll('202607011245', '202607011245+0000'),
		);
		await set('site set', { slug: 'west', time_zone: 'Asia/Tokyo' });
		await sent('127.30.0.3', result('1', 'R3', 'P', '202607011230', '15'));
		const versions = await service.rows<{ version: number }>(
			'select o.version, o.sent_at from observation o join site s on s.id = o.site_id where s.slug = $1 order by o.id',
			['west'],
		);
		// What only the time of its message tells of makes no version.
		assert.deepEqual(versions, [
			{ version: 3, sent_at: '2026-07-01T13:00:00+09:00' },
			{ version: 1, sent_at: '2026-07-01T13:00:00+09:00' },
		]);
		assert.deepEqual((await zoneOf('west', 'R3'))[1], ['late-result', 'late-report']);
		// The same moment as before, stated with its offset: neither older nor newer, so the correction counts.
		await sent('127.30.0.3', result('1', 'R4', 'C', '202607010330+0000', '16').replace('20260701130000|', '20260701040000+0000|'));
		assert.equal((await first(key, 'Observation?patient.identifier=1')).valueQuantity.value, 16);
	});

	test('go on where the run was when its node ended, and each is read once', async () => {
		const { key } = await service.addSite('upper', { allowed_ips: ['127.30.0.4'] });
		const patients = Array.from({ length: 80 }, (_, index) => String(index));
		await sent('127.30.0.4', ...patients.map(admission));
		const input = { slug: 'upper', time_zone: 'Europe/Berlin' };
		const preview = await set('site set', { ...input, preview: true });
		const { administration } = service;
		let steps = 0;
		const lost: OperationContext = {
			...administration,
			replayRuns: new ReplayRuns(silentLog),
			deliver: (delivery) => (++steps > 1 ? new Promise(() => undefined) : administration.deliver(delivery)),
		};
		const operation = operations.find(({ name }) => name === 'site set');
		assert.ok(operation);
		const begun = (await perform(operation, lost, { ...input, rederive: true })) as { rederivation: Run };
		const { id } = begun.rederivation;
		await eventually(() => steps === 2, 'the second step');
		assert.equal((await showReplay(administration, id)).done, 64);
		await assert.rejects(perform(operation, administration, { ...input, rederive: true }), { fault: 'conflict' });
		await service.rows("update replay_run set seen_at = now() - interval '2 minutes'");
		assert.equal((await showReplay(administration, id)).state, 'running', 'another node takes it up');
		await service.restart();
		const run = await ended(id);
		assert.deepEqual({ ...run.times, preview: true }, preview.times);
		assert.equal(run.times?.messages, 80);
		const versions = await service.rows(
			'select distinct e.version, tributary_json(e.resource) -> $1 ->> $2 as start from encounter e join site s on s.id = e.site_id where s.slug = $3',
			['period', 'start', 'upper'],
		);
		assert.deepEqual(versions, [{ version: 2, start: '2026-07-01T11:30:00+02:00' }]);
		assert.equal((await first(key, 'Encounter?identifier=V79')).period.start, '2026-07-01T11:30:00+02:00');

		// The command line carries a run out itself, and is killed in the middle of it: its last step waits for the last encounter.
		const { id: lastId } = await first(key, 'Encounter?identifier=V79');
		const holder = new pg.Client({ connectionString: service.databaseUrl });
		await holder.connect();
		await holder.query('begin');
		const held = await holder.query('select from encounter where id = $1 and site_id = (select id from site where slug = $2) for update', [
			lastId,
			'upper',
		]);
		assert.equal(held.rowCount, 1);
		const back = spawn(process.execPath, ['src/start.mjs', 'site', 'set', 'upper', '--time-zone', 'UTC', '--rederive'], {
			cwd: join(import.meta.dirname, '../..'),
			env: { ...process.env, DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir },
			stdio: 'ignore',
		});
		const killed = new Promise((resolve) => back.once('close', (_code, signal) => resolve(signal)));
		const running = async () => service.rows<{ id: string; done: number }>("select id, done from replay_run where state = 'running'");
		await eventually(async () => ((await running())[0]?.done ?? 0) >= 64, 'the first step of the command');
		back.kill('SIGKILL');
		assert.equal(await killed, 'SIGKILL');
		await holder.end();
		const [left] = await running();
		await service.rows("update replay_run set seen_at = now() - interval '2 minutes'");
		await service.restart();
		const second = await ended(left?.id ?? '');
		assert.deepEqual([second.times?.messages, second.times?.changed], [80, { Encounter: 80 }]);
		assert.equal((await first(key, 'Encounter?identifier=V79')).period.start, '2026-07-01T11:30:00Z');
		assert.equal((await service.rows('select from rederived_resource')).length, 0);
	});
});
