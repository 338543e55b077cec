import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runCli } from '#cli/run.ts';
import { newId } from '#core/id.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { fhirPackage } from '#test/support/fhir-package.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { readConfig } from '../../src/config.ts';
import { remoteEcho, remoteSend } from '../../src/echo.ts';
import { processInPlace } from '../../src/ingest-in-place.ts';

let service: TestService;
let directory: string;
const keys: Record<string, string> = {};

async function runWith(environment: Record<string, string>, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
	let out = '';
	let err = '';
	const stdout = { write: (text: string) => (out += text) };
	const stderr = { write: (text: string) => (err += text) };
	const hooks = {
		start: () => assert.fail('nothing is started'),
		processDelivery: processInPlace,
		openIngest: () => Promise.reject(new Error('nothing is imported')),
		remoteEcho,
		remoteSend,
		readConfig: () => readConfig({ DATABASE_URL: service.databaseUrl, ...environment }),
		version: '9.9.9',
	};
	const code = await runCli(argv, { stdout, stderr }, hooks);
	return { code, out, err };
}

const run = (...argv: string[]) => runWith({}, ...argv);

async function json(...argv: string[]) {
	const { code, out, err } = await run(...argv, '--json');
	assert.deepEqual([code, err], [0, ''], argv.join(' '));
	return JSON.parse(out);
}

function file(name: string, content: string | Buffer): string {
	const path = join(directory, name);
	writeFileSync(path, content);
	return path;
}

before(async () => {
	service = await testService();
	directory = mkdtempSync(join(tmpdir(), 'tributary-reports-'));
	for (const [slug, studies] of [
		['west', ['1.2.1', '1.2.2']],
		['east', ['1.2.1', '1.2.3']],
	] as const) {
		const { site, key } = await service.addSite(slug);
		keys[slug] = key;
		const created = await fhirClient(service, key)('POST', '/Patient', { resourceType: 'Patient', identifier: [{ value: `${slug}-1` }] });
		for (const uid of studies)
			await service.rows(
				`insert into imaging_study (site_id, study_uid, id, patient_id, started, accession_number, modalities, series_count, instance_count, bytes, created_at, updated_at)
				values ($1, $2, $3, $4, '2024-01-31T10:20:30', $5, '{CT}', 1, 1, 1, now(), now())`,
				[site.id, uid, newId(), uid === '1.2.3' ? null : created.body.id, `A${uid}`],
			);
	}
});

after(async () => {
	rmSync(directory, { recursive: true, force: true });
	await service[Symbol.asyncDispose]();
});

const add = (...more: string[]) => json('report', 'add', '--site', 'west', '--study', '1.2.1', ...more);

describe('report add, complete and amend', () => {
	test('write one report after the other version, with text and document of files', async () => {
		const pdf = Buffer.from('%PDF-1.7\n\x00\xff rest', 'latin1');
		const files = ['--text', `@${file('report.txt', 'Lungs clear.\nHeart normal.\n')}`, '--pdf', file('report.pdf', pdf)];
		const added = await add(...files, '--title', 'CT chest', '--author', 'Dr. Weiss', '--conclusion', 'Normal.');
		assert.deepEqual(
			[added.site, added.study_uid, added.accession_number, added.title, added.author, added.status, added.fhir_status, added.version],
			['west', '1.2.1', 'A1.2.1', 'CT chest', 'Dr. Weiss', 'draft', 'preliminary', 1],
		);
		const completed = await json('report', 'complete', added.id);
		assert.deepEqual([completed.status, completed.fhir_status, completed.version], ['completed', 'final', 2]);
		const amended = await json('report', 'amend', added.id, '--text', 'Lungs clear. Heart enlarged.', '--author', 'Dr. Roth');
		assert.deepEqual([amended.status, amended.author, amended.title, amended.version], ['amended', 'Dr. Roth', 'CT chest', 3]);
		const shown = await json('report', 'show', added.id);
		assert.equal(shown.text, 'Lungs clear. Heart enlarged.');
		assert.equal(shown.conclusion, null, 'it was that of the earlier text');
		assert.deepEqual(shown.attachments, []);
		assert.deepEqual(
			shown.history.map(({ version, fhir_status, text }: { version: number; fhir_status: string; text: string }) => [
				version,
				fhir_status,
				text,
			]),
			[
				[1, 'preliminary', 'Lungs clear.\nHeart normal.\n'],
				[2, 'final', 'Lungs clear.\nHeart normal.\n'],
				[3, 'amended', 'Lungs clear. Heart enlarged.'],
			],
		);
		const { body } = await service.fhir(`/fhir/DiagnosticReport/${added.id}/_history/2`, keys['west'] ?? '');
		assert.ok(pdf.equals(Buffer.from(body.presentedForm[1].data, 'base64')));
		assert.equal((await service.fhir(`/fhir/DiagnosticReport/${added.id}`, keys['east'] ?? '')).status, 404);
	});

	test('a draft that is amended stays a draft; what is completed at once is final', async () => {
		const draft = await add('--text', 'first');
		assert.deepEqual([draft.title, draft.author, draft.status], ['Diagnostic imaging study', null, 'draft']);
		assert.equal((await json('report', 'amend', draft.id, '--text', 'second', '--title', 'Named')).status, 'draft');
		assert.equal((await add('--text', 'x', '--status', 'completed')).status, 'completed');
		const again = await run('report', 'complete', (await add('--text', 'x', '--status', 'completed')).id);
		assert.deepEqual([again.code, again.out], [1, '']);
		assert.match(again.err, /completed already/);
	});

	test('a study without a patient has reports without one', async () => {
		const added = await json('report', 'add', '--site', 'east', '--study', '1.2.3', '--text', 'x');
		assert.equal(added.patient, null);
		const { body } = await service.fhir(`/fhir/DiagnosticReport/${added.id}`, keys['east'] ?? '');
		assert.equal(body.subject, undefined);
	});

	test('edits at the same time take their turns, and every one is a version', async () => {
		const { id } = await add('--text', '0', '--status', 'completed');
		await Promise.all(Array.from({ length: 6 }, (_, index) => json('report', 'amend', id, '--text', `text ${index}`)));
		const { history } = await json('report', 'show', id);
		assert.deepEqual(
			history.map(({ version }: { version: number }) => version),
			[1, 2, 3, 4, 5, 6, 7],
		);
		assert.equal(new Set(history.map(({ text }: { text: string }) => text)).size, 7);
	});

	test('say what is wrong with a study, a text, a document or a report', async () => {
		const base = ['report', 'add', '--site', 'west', '--study', '1.2.1'];
		const refused: [string[], RegExp][] = [
			[['report', 'add', '--site', 'west', '--study', '1.2.3', '--text', 'x'], /no study of this UID/],
			[['report', 'add', '--site', 'west', '--study', 'one', '--text', 'x'], /study: must be a DICOM UID/],
			[['report', 'add', '--site', 'nowhere', '--study', '1.2.1', '--text', 'x'], /no site 'nowhere'/],
			[[...base, '--text', ' \n'], /text: must not be empty/],
			[[...base, '--text', `@${join(directory, 'absent')}`], /ENOENT/],
			[[...base, '--text', 'x', '--pdf', file('no.pdf', 'a text')], /pdf: must be a PDF document/],
			[[...base, '--text', 'x', '--title', 'two\nlines'], /title: must be one line/],
			[[...base, '--text', 'x', '--conclusion', 'a\u0001b'], /conclusion: must not contain control characters/],
			[['report', 'complete', newId()], /there is no report/],
			[['report', 'amend', "' or 1=1", '--text', 'x'], /there is no report/],
			[['report', 'show', 'x', '--site', 'east'], /there is no report/],
		];
		for (const [argv, reason] of refused) {
			const { code, out, err } = await run(...argv, '--json');
			// A value that has not the right form is wrong usage.
			assert.deepEqual([code, out], [/: must/.test(reason.source) ? 2 : 1, ''], argv.join(' '));
			assert.match(err, reason);
		}
		const large = await runWith({ REPORT_BYTES_MAX: '1024' }, ...base, '--text', 'x'.repeat(2000));
		assert.deepEqual([large.code, large.out], [1, '']);
		assert.match(large.err, /more than 1024 bytes/);
	});

	test('end with 2 where the call is not of their form', async () => {
		const base = ['report', 'add', '--site', 'west', '--study', '1.2.1'];
		for (const argv of [
			base,
			['report', 'add', '--site', 'west', '--text', 'x'],
			['report', 'add', '--study', '1.2.1', '--text', 'x'],
			[...base, '--text', 'x', '--status', 'final'],
			[...base, '--text', 'x', '--colour', 'red'],
			['report', 'complete'],
			['report', 'amend', newId()],
			['report', 'list', '--status', 'preliminary'],
			['report', 'remove'],
		]) {
			const { code, out } = await run(...argv);
			assert.deepEqual([code, out], [2, ''], argv.join(' '));
		}
	});
});

describe('profile', () => {
	test('add loads a definition or a package from a file, and list, show and remove know it', async () => {
		const one = join(directory, 'wards.json');
		writeFileSync(one, JSON.stringify({ resourceType: 'ValueSet', url: 'urn:wards', name: 'Wards' }));
		const packed = join(directory, 'package.tgz');
		writeFileSync(packed, fhirPackage({ 'package/ValueSet-x.json': { resourceType: 'ValueSet', url: 'urn:x', name: 'X' } }));
		assert.equal((await json('profile', 'add', '--site', 'west', one)).added, 1);
		assert.equal((await json('profile', 'add', '--site', 'west', packed)).package, 'example.fhir.profiles#1.0.0');
		const listed = await json('profile', 'list', '--site', 'west');
		assert.deepEqual(
			listed.map(({ url }: { url: string }) => url),
			['urn:wards', 'urn:x'],
		);
		assert.equal((await json('profile', 'show', listed[0].id)).content.name, 'Wards');
		assert.equal((await json('profile', 'show', 'urn:x', '--site', 'west')).content.name, 'X');
		assert.equal((await json('profile', 'remove', 'example.fhir.profiles', '--site', 'west')).removed, 1);
		assert.equal((await json('profile', 'remove', 'urn:wards', '--site', 'west')).removed, 1);
		assert.equal((await run('profile', 'show', 'urn:x', '--site', 'west')).code, 1);
		assert.equal((await run('profile', 'add', '--site', 'west')).code, 2);
		assert.equal((await run('profile', 'add', '--site', 'west', join(directory, 'none.tgz'))).code, 1);
	});
});

describe('report list', () => {
	test('shows the reports newest first, by site, study and status, page by page', async () => {
		const made: string[] = [];
		for (const more of [[], ['--status', 'completed'], ['--status', 'completed']])
			made.push((await json('report', 'add', '--site', 'west', '--study', '1.2.2', '--text', 'x', ...more)).id);
		await json('report', 'amend', made[2] ?? '', '--text', 'y');
		const listed = async (...filters: string[]) =>
			(await json('report', 'list', '--study', '1.2.2', ...filters)).map(({ id }: { id: string }) => made.indexOf(id));
		assert.deepEqual(await listed(), [2, 1, 0]);
		assert.deepEqual(await listed('--status', 'completed'), [2, 1]);
		assert.deepEqual(await listed('--status', 'draft', '--site', 'west'), [0]);
		assert.deepEqual(await listed('--site', 'east'), []);
		assert.deepEqual(await listed('--limit', '1', '--before', made[2] ?? ''), [1]);
		assert.match((await run('report', 'list')).out, /^id +site +study_uid +accession_number +patient +title +author +status /);
	});
});
