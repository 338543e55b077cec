import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Failure } from '#core/failure.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { convertible, deflatedExplicitLittleEndian, explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { checkConversion, converted } from '#imaging/conversion.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { sampleDataSet } from '#test/support/data-set.ts';
import { without } from '#test/support/needs.ts';

async function* pieces(bytes: Buffer, pieceBytes = 10_007): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function convert(bytes: Buffer, from: string, to: string): Promise<Buffer> {
	const written: Uint8Array[] = [];
	for await (const piece of converted(pieces(bytes), from, to)) written.push(piece);
	return Buffer.concat(written);
}

describe('a data set on its way out', () => {
	test('is deflated and inflated, to an even length', async () => {
		const dataSet = sampleDataSet();
		const deflated = await convert(dataSet, explicitLittleEndian, deflatedExplicitLittleEndian);
		assert.equal(deflated.length % 2, 0);
		assert.ok(inflateRawSync(deflated).equals(dataSet));
		assert.ok((await convert(deflated, deflatedExplicitLittleEndian, explicitLittleEndian)).equals(dataSet));
		const implicit = await convert(dataSet, explicitLittleEndian, implicitLittleEndian);
		assert.ok((await convert(deflated, deflatedExplicitLittleEndian, implicitLittleEndian)).equals(implicit));
	});

	test('is refused when it cannot be read to its end', async () => {
		const dataSet = sampleDataSet();
		const cases: [Buffer, string, string][] = [
			[dataSet.subarray(0, -1), explicitLittleEndian, implicitLittleEndian],
			[deflateRawSync(dataSet).subarray(0, -10), deflatedExplicitLittleEndian, implicitLittleEndian],
			[dataSet, deflatedExplicitLittleEndian, explicitLittleEndian],
		];
		for (const [bytes, from, to] of cases) {
			await assert.rejects(
				checkConversion(pieces(bytes), from, to),
				(error) => error instanceof Failure && error.code === 'not-acceptable',
			);
		}
	});
});

describe('the shared corpus', { skip: without('corpus') }, () => {
	const files = without('corpus') ? [] : corpusFiles('dicom').filter(({ expect }) => expect === 'accept');

	test('has the same elements after every round trip', async () => {
		let trips = 0;
		for (const { bytes, path } of files) {
			const { transferSyntaxUid: own, dataSetOffset } = readFileMeta(bytes);
			if (own === undefined || !convertible.includes(own)) continue;
			const dataSet = bytes.subarray(dataSetOffset);
			for (const to of convertible.filter((uid) => uid !== own)) {
				const there = await convert(dataSet, own, to);
				// Both ways once more: group lengths and defined lengths are gone after the first.
				const again = await convert(await convert(there, to, own), own, to);
				assert.ok(again.equals(there), `${path} ${own} ${to}`);
				trips += 1;
			}
		}
		assert.ok(trips > 150, String(trips));
	});
});
