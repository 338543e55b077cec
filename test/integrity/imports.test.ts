import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { part10Head } from '#dicom/part10.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { adt } from '#test/support/adt.ts';
import { ctStorage, sampleDataSet } from '#test/support/data-set.ts';
import { without } from '#test/support/needs.ts';
import { startOrthanc } from '#test/support/orthanc.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const study = '1.2.826.0.1.3680043.8.498.72';

function dicomFile(number: number, patientId = 'P-1'): Buffer {
	const sopInstanceUid = `${study}.1.${number}`;
	const dataSet = sampleDataSet({
		studyUid: study,
		seriesUid: `${study}.1`,
		sopInstanceUid,
		patientId,
		pixels: Buffer.alloc(2048, number),
	});
	return Buffer.concat([part10Head({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid: explicitLittleEndian }), dataSet]);
}

const framed = (message: string) => `\x0b${message}\x1c\r`;

describe('imports', () => {
	let service: TestService;
	let key: string;
	let root: string;

	before(async () => {
		service = await testService();
		({ key } = await service.addSite('north'));
		root = mkdtempSync(join(tmpdir(), 'tributary-import-'));
		writeFileSync(join(root, 'key'), `${key}\n`);
		await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the key');
	});

	after(async () => {
		rmSync(root, { recursive: true, force: true });
		await service?.[Symbol.asyncDispose]();
	});

	/** A folder below the root, with files. */
	function folder(name: string, files: Readonly<Record<string, string | Buffer>>): string {
		for (const [path, content] of Object.entries(files)) {
			const to = join(root, name, path);
			mkdirSync(join(to, '..'), { recursive: true });
			writeFileSync(to, content);
		}
		return join(root, name);
	}

	function started(...argv: string[]): {
		child: ChildProcess;
		ended: Promise<{ code: number | null; report: ReturnType<typeof JSON.parse>; err: string }>;
	} {
		const environment = { ...process.env, DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir };
		const child = spawn(process.execPath, ['src/start.mjs', 'import', ...argv, '--json'], {
			env: environment,
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const read = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
		return { child, ended: read.then(([out, err, [code]]) => ({ code, err, report: out === '' ? undefined : JSON.parse(out) })) };
	}

	async function imported(...argv: string[]) {
		const { code, report, err } = await started(...argv).ended;
		assert.ok(report, err);
		const { taken, known, refused, skipped, refusals } = report;
		return { code, counts: { taken, known, refused, skipped }, refusals };
	}

	const logged = (prefix: string) =>
		service.rows<{ id: string; outcome: string }>(
			'select control_id as id, outcome from message_log where control_id like $1 order by sequence',
			[`${prefix}%`],
		);
	const stored = async () =>
		(await service.rows<{ uid: string }>('select sop_instance_uid as uid from imaging_instance order by 1')).map(({ uid }) =>
			uid.slice(study.length + 3),
		);

	test('of HL7 v2 files: framed or not, in batches or not, in their order, applied once, with reasons for what is refused', async () => {
		const from = folder('hl7', {
			'b.txt': framed(adt('imp-3', '13', 3)) + framed(adt('imp-4', '14', 4)),
			'a.hl7': `${adt('imp-1', '11', 1).replaceAll('\r', '\n')}\n${adt('imp-2', '12', 2).replaceAll('\r', '\n')}`,
			'c/batch.hl7': `FHS|^~\\&|X\rBHS|^~\\&|X\r${adt('imp-5', '15', 5)}${adt('imp-6', '16', 6, 'A60')}BTS|2\rFTS|1\r`,
			'c/scan.pdf': '%PDF-1.4',
		});
		const named = ['hl7-folder', from, '--site', 'north', '--client', 'north sender'];
		const rehearsed = await imported(...named, '--dry-run');
		assert.deepEqual([rehearsed.code, rehearsed.counts], [1, { taken: 5, known: 0, refused: 1, skipped: 1 }]);
		assert.deepEqual(await logged('imp-'), []);
		const first = await imported(...named);
		assert.deepEqual([first.code, first.counts], [1, { taken: 5, known: 0, refused: 1, skipped: 1 }]);
		const [refusal] = first.refusals;
		assert.match(refusal.unit, /^c\/batch\.hl7 /);
		assert.deepEqual([refusal.at, /ADT\^A60/.test(refusal.reason)], [2, true]);
		assert.deepEqual(
			(await logged('imp-')).map(({ id, outcome }) => `${id} ${outcome}`),
			[...[1, 2, 3, 4, 5].map((number) => `imp-${number} accepted`), 'imp-6 refused'],
		);
		// A refused message is tried again, and heals once its client takes the event.
		await service.rows("update integration_client set ignore_events = '{A60}' where name = 'north sender'");
		const second = await imported(...named);
		assert.deepEqual([second.code, second.counts], [0, { taken: 5, known: 1, refused: 0, skipped: 1 }]);
		const again = await imported(...named, '--journal', join(root, 'other.journal'));
		assert.deepEqual(again.counts, { taken: 0, known: 6, refused: 0, skipped: 1 });
		const strange = await started('hl7-folder', from, '--site', 'north', '--client', 'nobody').ended;
		assert.deepEqual([strange.code, strange.err], [1, "tributary: the site 'north' has no integration client 'nobody'\n"]);
		const events = await service.rows("select detail from audit_event where action = 'import.hl7'");
		assert.equal(events.length, 4);
	});

	test('of HL7 v2 files with a message that is too long: it is refused once, and what follows it is taken', async () => {
		const long = `${adt('long-2', '32', 2)}NTE|1||${'x'.repeat(40 * 1024 * 1024)}\r`;
		const from = folder('long', { 'a.hl7': adt('long-1', '31', 1) + long + adt('long-3', '33', 3), 'b.hl7': adt('long-4', '34', 4) });
		const { code, counts, refusals } = await imported('hl7-folder', from, '--site', 'north', '--client', 'north sender');
		assert.deepEqual([code, counts], [1, { taken: 3, known: 0, refused: 1, skipped: 0 }]);
		assert.deepEqual([refusals.length, refusals[0].at], [1, 2]);
		assert.match(refusals[0].reason, /^the message is longer than \d+ bytes$/);
		assert.deepEqual(
			(await logged('long-')).map(({ id }) => id),
			['long-1', 'long-3', 'long-4'],
		);
	});

	test('of HL7 v2 files by MSH-7', async () => {
		const at = (id: string, time: string) => adt(id, '21', id).replace('20260101120000+0000||ADT', `${time}||ADT`);
		const from = folder('times', { 'a.hl7': at('time-2', '20260102') + at('time-3', '20260103'), 'b.hl7': at('time-1', '20260101') });
		const { counts } = await imported('hl7-folder', from, '--site', 'north', '--client', 'north sender', '--order', 'time');
		assert.equal(counts.taken, 3);
		assert.deepEqual(
			(await logged('time-')).map(({ id }) => id),
			['time-1', 'time-2', 'time-3'],
		);
	});

	test('that were killed go on, and apply nothing twice', async () => {
		const count = 600;
		const many = Array.from({ length: count }, (_, index) => adt(`kill-${index}`, `9${index}`, index)).join('');
		const from = folder('kill', { 'many.hl7': many });
		const named = ['hl7-folder', from, '--site', 'north', '--client', 'north sender'];
		const { child, ended } = started(...named, '--rate', '100');
		await eventually(async () => (await logged('kill-')).length >= 128, 'a part of the import');
		child.kill('SIGKILL');
		await ended;
		const half = (await logged('kill-')).length;
		assert.ok(half < count, `killed after ${half}`);
		// A service that starts removes what is left of jobs beside the journal.
		await service.restart();
		const { code, counts } = await imported(...named);
		// Messages that were committed before the journal said so are known; they are at most a batch or two.
		assert.deepEqual([code, counts.taken + counts.known, counts.refused], [0, count, 0]);
		assert.ok(counts.known <= 128, `${counts.known} known`);
		const accepted = (await logged('kill-')).filter(({ outcome }) => outcome === 'accepted').map(({ id }) => id);
		assert.deepEqual(
			accepted,
			Array.from({ length: count }, (_, index) => `kill-${index}`),
		);
		// The file is settled, so another run finds nothing to do in it.
		assert.deepEqual((await imported(...named)).counts, counts);
	});

	test('of DICOM files: with and without preamble, below folders, once; what is none is passed over', async () => {
		const truncated = dicomFile(9).subarray(0, 900);
		const from = folder('dicom', {
			'DISC/IM1': dicomFile(1),
			'DISC/IM2.dcm': dicomFile(2).subarray(132),
			'DISC/cut.dcm': truncated,
			DICOMDIR: dicomFile(3),
			'viewer.exe': 'MZ',
		});
		const named = ['dicom-folder', from, '--key-file', join(root, 'key')];
		const dry = await imported(...named, '--dry-run');
		assert.deepEqual(dry.counts, { taken: 3, known: 0, refused: 0, skipped: 2 });
		assert.deepEqual(await stored(), []);
		const first = await imported(...named);
		assert.deepEqual([first.code, first.counts], [1, { taken: 2, known: 0, refused: 1, skipped: 2 }]);
		assert.match(first.refusals[0].unit, /^DISC\/cut\.dcm /);
		assert.deepEqual(
			await stored(),
			['1', '2'].map((number) => `${number}`),
		);
		writeFileSync(join(root, 'wrong'), 'trb_no_key');
		const stranger = await started('dicom-folder', from, '--key-file', join(root, 'wrong'), '--journal', join(root, 'j')).ended;
		assert.deepEqual([stranger.code, stranger.err], [1, 'tributary: the service does not take the key\n']);
	});

	test('of FHIR files: references from one to another, lines without an id once, refused lines by file and number', async () => {
		const patient = { resourceType: 'Patient', id: 'imp-p1', name: [{ family: 'Rivers' }] };
		const condition = (subject: string) => ({ resourceType: 'Condition', subject: { reference: subject }, code: { text: 'Asthma' } });
		const lines = (...resources: object[]) => resources.map((resource) => `${JSON.stringify(resource)}\n`).join('');
		const from = folder('fhir', {
			'Condition.000.ndjson': lines(condition('Patient/imp-p1'), condition('Patient/nobody')),
			'Patient.ndjson': lines(patient),
			'manifest.json': '{}',
		});
		const named = ['fhir-ndjson', from, '--key-file', join(root, 'key')];
		assert.deepEqual((await imported(...named, '--dry-run')).counts, { taken: 3, known: 0, refused: 0, skipped: 1 });
		const first = await imported(...named);
		assert.deepEqual([first.code, first.counts], [1, { taken: 2, known: 0, refused: 1, skipped: 1 }]);
		assert.deepEqual([/^Condition\.000\.ndjson /.test(first.refusals[0].unit), first.refusals[0].at], [true, 2]);
		// The file with the refused line is sent again; its first line is the same resource.
		await imported(...named);
		await imported(...named, '--journal', join(root, 'fhir.journal'));
		const { body } = await service.fhir('/fhir/Condition?patient=imp-p1', key);
		assert.deepEqual(
			body.entry.map(({ resource }: { resource: { meta: { versionId: string } } }) => resource.meta.versionId),
			['1'],
		);
	});

	test('of an Orthanc, killed in the middle', { skip: without('orthanc') }, async () => {
		const webUrl = `http://127.0.0.1:${service.port('fhir')}/dicomweb/`;
		await using orthanc = await startOrthanc({ aeTitle: 'NORTH', dicomPort: service.port('dimse'), webUrl, key });
		const numbers = Array.from({ length: 30 }, (_, index) => 100 + index);
		for (const number of numbers) await orthanc.ask('POST', '/instances', dicomFile(number));
		const named = ['orthanc', orthanc.url, '--key-file', join(root, 'key')];
		const { child, ended } = started(...named, '--rate', '10');
		const ofOrthanc = async () => (await stored()).filter((number) => number.length === 3);
		await eventually(async () => (await ofOrthanc()).length >= 5, 'a part of the instances');
		child.kill('SIGKILL');
		await ended;
		assert.ok((await ofOrthanc()).length < numbers.length);
		const { code, counts } = await imported(...named);
		assert.deepEqual([code, counts], [0, { taken: numbers.length, known: 0, refused: 0, skipped: 0 }]);
		assert.deepEqual(await ofOrthanc(), numbers.map(String));
	});
});
