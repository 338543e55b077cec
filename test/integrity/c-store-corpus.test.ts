import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkObjects } from '#administration/objects.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { DataSetScanner } from '#dicom/scanner.ts';
import { implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import type { InstanceAttributes } from '#record/instance.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { type CorpusFile, corpusFiles } from '#test/support/corpus.ts';
import { ctStorage } from '#test/support/data-set.ts';
import { corpusDirectory, without } from '#test/support/needs.ts';
import { testService } from '#test/support/service.ts';
import { addImagingSite, type SentInstance, StorageScu } from '#test/support/storage-scu.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

interface Sample extends SentInstance {
	file: CorpusFile;
	attributes: InstanceAttributes | undefined;
}

/** The file as its sender would announce it: by the data set where that names itself. */
function sampleOf(file: CorpusFile): Sample {
	const meta = readFileMeta(file.bytes);
	const transferSyntaxUid = meta.transferSyntaxUid ?? implicitLittleEndian;
	const dataSet = file.bytes.subarray(meta.dataSetOffset);
	const scanner = new DataSetScanner(transferSyntaxUid, { headerBytesMax: 4 * 1024 * 1024 });
	scanner.feed(dataSet);
	const scanned = scanner.end();
	const attributes = 'attributes' in scanned ? scanned.attributes : undefined;
	const { sopClassUid = ctStorage, sopInstanceUid = '1.2.3' } = attributes ?? {};
	return { file, attributes, sopClassUid, sopInstanceUid, transferSyntaxUid, dataSet };
}

/** Patient's Name in UTF-8 by DCMTK, which decodes character sets by itself: family and given name. */
function nameByDcmtk(path: string): string[] | undefined {
	const { stdout, status } = spawnSync('dcmdump', ['+U8', '-q', '+P', '0010,0010', join(corpusDirectory, path)], { encoding: 'utf8' });
	const value = status === 0 ? /^\(0010,0010\) PN \[([^\]]*)\]/m.exec(stdout)?.[1] : undefined;
	const [family = '', given = ''] = value?.split('=')[0]?.split('^') ?? [];
	return value === undefined ? undefined : [family.trim(), given.trim()];
}

interface Row {
	sop_instance_uid: string;
	sop_class_uid: string;
	transfer_syntax_uid: string;
	study_uid: string;
	series_uid: string;
	digest: string;
	object_key: string;
	accession_number: string | null;
	patient: string | null;
}

describe('the shared DICOM files through the whole service', { skip: without('corpus') }, () => {
	test('what can be stored is indexed and comes back byte for byte; other content under a UID is kept aside', async () => {
		await using service = await testService();
		const { called, siteId } = await addImagingSite(service, 'west');
		const samples = corpusFiles('dicom')
			.filter(({ expect }) => expect === 'accept')
			.map((file) => sampleOf(file));
		assert.ok(samples.length >= 130);
		const first = new Map<string, Sample>();
		let conflicts = 0;
		for (const sample of samples) {
			const held = first.get(sample.sopInstanceUid);
			const isConflict = held !== undefined && !held.dataSet.equals(sample.dataSet);
			if (isConflict) conflicts += 1;
			if (held === undefined) first.set(sample.sopInstanceUid, sample);
			const contexts = [[sample.sopClassUid, sample.transferSyntaxUid]] as const;
			using scu = await StorageScu.open(service.port('dimse'), { called, contexts });
			const { status, comment } = await scu.store(sample, 15_013);
			assert.equal(status, isConflict ? 0xb000 : 0, `${sample.file.path}: ${comment}`);
			await scu.release();
		}
		const rows = await service.rows<Row>(
			`select i.*, s.accession_number, tributary_whole_text(p.resource) as patient from imaging_instance i
			join imaging_study s using (site_id, study_uid) left join patient p on p.site_id = s.site_id and p.id = s.patient_id
			where i.site_id = $1`,
			[siteId],
		);
		assert.equal(rows.length, first.size);
		const objects = configuredObjectStore({ DATA_DIR: service.dataDir });
		for (const row of rows) {
			const { file, dataSet, attributes, transferSyntaxUid } = first.get(row.sop_instance_uid) ?? assert.fail(row.sop_instance_uid);
			assert.ok(attributes, file.path);
			assert.deepEqual(
				[row.sop_class_uid, row.transfer_syntax_uid, row.study_uid, row.series_uid, row.digest],
				[attributes.sopClassUid, transferSyntaxUid, attributes.studyUid, attributes.seriesUid, sha256(dataSet)],
				file.path,
			);
			assert.equal(row.sop_class_uid, file.sopClass, file.path);
			assert.equal(row.transfer_syntax_uid, file.transferSyntax || implicitLittleEndian, file.path);
			const chunks: Uint8Array[] = [];
			for await (const chunk of objects.read(row.object_key)) chunks.push(chunk);
			const stored = Buffer.concat(chunks);
			assert.ok(stored.subarray(readFileMeta(stored).dataSetOffset).equals(dataSet), file.path);
		}
		const store = configuredObjectStore({ DATA_DIR: service.dataDir });
		const report = await checkObjects(service.administration.database, store, Date.now() + 7_200_000, { remove: false, repair: false });
		assert.deepEqual([report.objects, report.objects_without_rows, report.rows_without_objects], [first.size + conflicts, 0, 0]);
	});

	test('the patient is the one of the file, in whatever character set', { skip: without('dcmtk') }, async () => {
		await using service = await testService();
		const samples = corpusFiles('dicom')
			.filter(({ expect, charset, quirks }) => expect === 'accept' && charset !== '' && !quirks.includes('PatientID empty'))
			.map((file) => sampleOf(file));
		const sets = new Set(samples.map(({ file }) => file.charset));
		assert.ok(sets.size >= 5, [...sets].join(', '));
		// Each patient once: who is known keeps the name that is known.
		const { called, siteId } = await addImagingSite(service, 'west');
		let compared = 0;
		const known = new Set<string>();
		for (const sample of samples) {
			const id = sample.attributes?.patient.id ?? '';
			const expected = nameByDcmtk(sample.file.path);
			if (expected === undefined || known.has(id)) continue;
			known.add(id);
			using scu = await StorageScu.open(service.port('dimse'), { called, contexts: [[sample.sopClassUid, sample.transferSyntaxUid]] });
			assert.equal((await scu.store(sample)).status, 0, sample.file.path);
			await scu.release();
			const [row] = await service.rows<{ resource: string }>(
				'select tributary_whole_text(p.resource) as resource from patient p join patient_identifier i on i.site_id = p.site_id and i.patient_id = p.id where p.site_id = $1 and i.value = $2',
				[siteId, id],
			);
			assert.ok(row, sample.file.path);
			const [name] = (JSON.parse(row.resource) as { name?: { family?: string; given?: string[] }[] }).name ?? [];
			assert.deepEqual([name?.family ?? '', name?.given?.[0] ?? ''], expected, sample.file.path);
			compared += 1;
		}
		assert.ok(compared >= 20, `${compared} patients compared`);
	});

	test('what names no instance is refused with its status, and nothing of it is left', async () => {
		await using service = await testService();
		const { called, siteId } = await addImagingSite(service, 'west');
		const samples = corpusFiles('dicom')
			.filter(({ expect }) => expect === 'reject')
			.map((file) => sampleOf(file));
		assert.ok(samples.length >= 8);
		for (const sample of samples) {
			assert.equal(sample.attributes, undefined, sample.file.path);
			using scu = await StorageScu.open(service.port('dimse'), { called, contexts: [[sample.sopClassUid, sample.transferSyntaxUid]] });
			const { status, comment } = await scu.store(sample);
			const isMissing = comment?.endsWith('is missing');
			assert.equal(status, isMissing ? 0xa900 : 0xc000, `${sample.file.path}: ${comment}`);
			await scu.release();
		}
		assert.deepEqual(await service.rows('select 1 from imaging_instance where site_id = $1', [siteId]), []);
		const store = configuredObjectStore({ DATA_DIR: service.dataDir });
		const report = await checkObjects(service.administration.database, store, Date.now() + 7_200_000, { remove: false, repair: false });
		assert.equal(report.objects, 0);
	});
});
