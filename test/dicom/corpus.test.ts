import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { part10Head, readFileMeta } from '#dicom/part10.ts';
import { DataSetScanner, type ScanResult } from '#dicom/scanner.ts';
import { implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { dateOf, firstOf, integerOf, textOf } from '#dicom/values.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { corpusDirectory, without } from '#test/support/needs.ts';

const files = without('corpus') ? [] : corpusFiles('dicom').filter(({ expect }) => expect !== 'n/a');

function scan(bytes: Buffer, chunkBytes: number): ScanResult {
	const { transferSyntaxUid = implicitLittleEndian, dataSetOffset } = readFileMeta(bytes);
	const scanner = new DataSetScanner(transferSyntaxUid, { headerBytesMax: 4 * 1024 * 1024 });
	for (let at = dataSetOffset; at < bytes.length; at += chunkBytes) if (!scanner.feed(bytes.subarray(at, at + chunkBytes))) break;
	return scanner.end();
}

describe('the shared DICOM files', { skip: without('corpus') }, () => {
	test('every file that can be stored is read, in chunks of any size alike', () => {
		const accepted = files.filter(({ expect }) => expect === 'accept');
		assert.ok(accepted.length >= 130);
		for (const { path, bytes } of accepted) {
			const whole = scan(bytes, bytes.length);
			assert.ok('attributes' in whole, `${path}: ${JSON.stringify(whole)}`);
			for (const size of [13, 512]) assert.deepEqual(scan(bytes, size), whole, path);
		}
	});

	test('every file without the UIDs of an instance is refused', () => {
		const rejected = files.filter(({ expect }) => expect === 'reject');
		assert.ok(rejected.length >= 8);
		for (const { path, bytes } of rejected) assert.ok('fault' in scan(bytes, 1000), path);
	});

	test('damaged by one byte at a time, they are read or refused', () => {
		const small = files.filter(({ bytes }) => bytes.length < 1500);
		assert.ok(small.length > 10);
		for (const { bytes } of small) {
			const { dataSetOffset } = readFileMeta(bytes);
			for (let at = dataSetOffset; at < bytes.length; at++) {
				for (const value of [0x00, 0xff]) {
					const damaged = Buffer.from(bytes);
					damaged[at] = value;
					const result = scan(damaged, damaged.length);
					assert.ok('attributes' in result || result.fault.text.length > 0);
				}
			}
		}
	});
});

type Json = Record<string, { vr: string; Value?: unknown[] }>;

/** The data set as DCMTK reads it, in UTF-8; undefined where it cannot. */
function asDcmtkReads(path: string): Json | undefined {
	const { stdout, status } = spawnSync('dcm2json', ['-fc', path], { encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 });
	if (status !== 0 || stdout === '') return undefined;
	try {
		return JSON.parse(stdout) as Json;
	} catch {
		return undefined;
	}
}

const text = (json: Json, tag: string) => (json[tag]?.Value?.[0] === undefined ? undefined : textOf(String(json[tag]?.Value?.join('\\'))));
const first = (json: Json, tag: string) => firstOf(text(json, tag) ?? '');

describe('DCMTK reads the same', { skip: without('corpus', 'dcmtk') }, () => {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-dicom-'));
	after(() => rmSync(directory, { recursive: true, force: true }));

	test('identifiers, numbers, dates and texts', () => {
		let compared = 0;
		for (const { path, bytes, expect } of files) {
			const result = expect === 'accept' ? scan(bytes, 4000) : undefined;
			if (!result || !('attributes' in result)) continue;
			const json = asDcmtkReads(join(corpusDirectory, path));
			if (!json) continue;
			compared += 1;
			const { attributes: ours } = result;
			const isAscii = json['00080005'] === undefined || /^ISO_IR 192$/.test(first(json, '00080005') ?? '');
			assert.deepEqual(
				[ours.sopClassUid, ours.sopInstanceUid, ours.studyUid, ours.seriesUid],
				['00080016', '00080018', '0020000D', '0020000E'].map((tag) => first(json, tag)),
				path,
			);
			assert.deepEqual(
				[ours.number, ours.series.number, ours.rows, ours.columns],
				['00200013', '00200011', '00280010', '00280011'].map((tag) => integerOf(first(json, tag) ?? '')),
				path,
			);
			assert.equal(ours.series.modality, first(json, '00080060'), path);
			assert.equal(ours.patient.birthDate, dateOf(text(json, '00100030') ?? ''), path);
			assert.equal(ours.study.started?.slice(0, 10), dateOf(text(json, '00080020') ?? ''), path);
			if (!isAscii) continue;
			assert.equal(ours.patient.id, text(json, '00100020'), path);
			assert.equal(ours.study.description, text(json, '00081030'), path);
			const name = json['00100010']?.Value?.[0] as Record<string, string> | undefined;
			const group = (value = '') => value.split('^').map((part) => part.trim());
			const [family = '', given = ''] = group(name?.['Alphabetic']);
			assert.deepEqual([ours.patient.name?.family ?? '', ours.patient.name?.given ?? ''], [family, given], path);
		}
		// It gives no JSON for compressed pixel data.
		assert.ok(compared >= 75, `${compared} files compared`);
	});

	test('takes the files that are written', () => {
		const samples = files.filter(({ expect, bytes }) => expect === 'accept' && bytes.length < 60_000).slice(0, 40);
		assert.ok(samples.length >= 30);
		for (const { path, bytes } of samples) {
			const { dataSetOffset, transferSyntaxUid = implicitLittleEndian } = readFileMeta(bytes);
			const result = scan(bytes, bytes.length);
			assert.ok('attributes' in result);
			const { sopClassUid, sopInstanceUid } = result.attributes;
			const file = join(directory, 'written.dcm');
			writeFileSync(
				file,
				Buffer.concat([part10Head({ sopClassUid, sopInstanceUid, transferSyntaxUid, sourceAe: 'CT1' }), bytes.subarray(dataSetOffset)]),
			);
			const { stdout, stderr, status } = spawnSync(
				'dcmdump',
				['+P', '0002,0003', '+P', '0002,0010', '+P', '0002,0012', '+P', '0002,0016', '-Un', file],
				{ encoding: 'utf8' },
			);
			assert.equal(status, 0, `${path}: ${stderr}`);
			assert.match(stdout, /\[CT1\]/);
			assert.ok(stdout.includes(`[${sopInstanceUid}]`) && stdout.includes(transferSyntaxUid), `${path}: ${stdout}`);
		}
	});
});
