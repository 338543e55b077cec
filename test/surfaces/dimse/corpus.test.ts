import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { silentLog } from '#core/log.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { DataSetScanner } from '#dicom/scanner.ts';
import { implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import type { IndexRequest } from '#imaging/index-instance.ts';
import { InstanceIntake } from '#imaging/intake.ts';
import type { StoredInstance } from '#record/instance.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { type CorpusFile, corpusFiles } from '#test/support/corpus.ts';
import { without } from '#test/support/needs.ts';
import { abortPdu, associate, commandSet, data, statusOf, value } from './peer.ts';
import { ctImage, startSurface } from './support.ts';

const limits = { headerBytesMax: 4 * 1024 * 1024, carriedObjectBytesMax: 0, dimseObjectBytesMax: 1024 ** 3 };

/** The surface in front of the real intake and a store of files; the index takes everything. */
async function startStoring(context: TestContext) {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-dimse-'));
	context.after(() => rmSync(folder, { recursive: true }));
	const objects = new FileStore(folder);
	const indexed: StoredInstance[] = [];
	const index = async ({ instance }: IndexRequest) => {
		indexed.push(instance);
		return { kind: 'stored' } as const;
	};
	const { port } = await startSurface(context, { entry: new InstanceIntake({ objects, index, limits, log: silentLog }) });
	const read = async (key: string) => {
		const chunks: Uint8Array[] = [];
		for await (const chunk of objects.read(key)) chunks.push(chunk);
		return Buffer.concat(chunks);
	};
	const files = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	return { port, indexed, read, files };
}

function read({ bytes }: CorpusFile) {
	const { transferSyntaxUid = implicitLittleEndian, dataSetOffset } = readFileMeta(bytes);
	const dataSet = bytes.subarray(dataSetOffset);
	const scanner = new DataSetScanner(transferSyntaxUid, limits);
	scanner.feed(dataSet);
	const scanned = scanner.end();
	return { transferSyntaxUid, dataSet, attributes: 'attributes' in scanned ? scanned.attributes : undefined };
}

/** Sends the data set in pieces that fit no boundary of anything; gives the status. */
async function send(context: TestContext, port: number, sopClassUid: string, sopInstanceUid: string, file: ReturnType<typeof read>) {
	const peer = await associate(context, port, { contexts: { 1: [sopClassUid, file.transferSyntaxUid] } });
	const command = commandSet({ 2: sopClassUid, 256: 1, 272: 1, 1792: 0, 2048: 0, 4096: sopInstanceUid });
	peer.write(data(value(1, 'command', command)));
	const pieceBytes = 15_013;
	for (let at = 0; at === 0 || at < file.dataSet.length; at += pieceBytes)
		peer.write(data(value(1, 'data', file.dataSet.subarray(at, at + pieceBytes), at + pieceBytes >= file.dataSet.length)));
	const status = statusOf(await peer.next());
	peer.write(abortPdu);
	await peer.closed;
	return status;
}

describe('the shared DICOM files over DIMSE', { skip: without('corpus') }, () => {
	test('what can be stored is stored byte for byte', async (context) => {
		const { port, indexed, read: stored } = await startStoring(context);
		const files = corpusFiles('dicom').filter(({ expect }) => expect === 'accept');
		assert.ok(files.length >= 130);
		for (const corpusFile of files) {
			const file = read(corpusFile);
			assert.ok(file.attributes, corpusFile.path);
			const { sopClassUid, sopInstanceUid } = file.attributes;
			assert.equal(await send(context, port, sopClassUid, sopInstanceUid, file), 0, corpusFile.path);
			const instance = indexed.at(-1);
			assert.ok(instance);
			assert.deepEqual(instance.attributes, file.attributes);
			const bytes = await stored(instance.objectKey);
			const meta = readFileMeta(bytes);
			assert.equal(meta.transferSyntaxUid, file.transferSyntaxUid);
			assert.ok(bytes.subarray(meta.dataSetOffset).equals(file.dataSet), corpusFile.path);
		}
		assert.equal(indexed.length, files.length);
	});

	test('what names no instance is refused, and nothing of it is left', async (context) => {
		const { port, indexed, files } = await startStoring(context);
		const rejected = corpusFiles('dicom').filter(({ expect }) => expect === 'reject');
		assert.ok(rejected.length >= 8);
		for (const corpusFile of rejected) {
			const status = await send(context, port, ctImage, '1.2.3', read(corpusFile));
			assert.ok(status === 0xa900 || status === 0xc000, `${corpusFile.path}: ${status}`);
		}
		assert.equal(indexed.length, 0);
		assert.deepEqual(files(), []);
	});
});
