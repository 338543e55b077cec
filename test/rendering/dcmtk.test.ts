import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readFileMeta } from '#dicom/part10.ts';
import { FrameSource } from '#rendering/frame-source.ts';
import { render } from '#rendering/render.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { temporaryFolder } from '#test/support/dcmtk.ts';
import { corpusDirectory, without } from '#test/support/needs.ts';
import { readPng, type SeenPicture } from '#test/support/png.ts';

/** DCMTK cuts fractions of a grey off where this service rounds, and has other constants for chrominance. */
const differenceMax = 2;
/**
 * DCMTK draws overlays, shows a set bit as half a grey, leaves pixels as they lie that are not square, and reads 32 bits of big endian as two words in
 * little endian.
 */
const otherwise = /examples_overlay|liver_|tumor_User1|color-p[lx]|rtdose_expb/;

async function own(bytes: Buffer): Promise<SeenPicture | string> {
	const { transferSyntaxUid = '1.2.840.10008.1.2' } = readFileMeta(bytes);
	const objects = {
		async *read(_key: string, range = { start: 0, end: bytes.length }) {
			yield bytes.subarray(range.start, range.end);
		},
		size: async () => bytes.length,
	};
	const instance = {
		studyUid: '1',
		seriesUid: '1',
		sopInstanceUid: '1',
		sopClassUid: '1',
		transferSyntaxUid,
		objectKey: 'k',
		bytes: bytes.length,
	};
	const bounds = { headerBytesMax: 64 * 1024 * 1024, pixelsMax: 50_000_000 };
	const wish = { mediaType: 'image/png', quality: 90, window: undefined, viewport: undefined } as const;
	const frame = await FrameSource.open(objects, instance, bounds)
		.then((source) => source.read(0))
		.catch((error: Error) => error.message);
	if (typeof frame === 'string') return frame;
	const result = await render({ ...frame, wish, pixelsMax: bounds.pixelsMax });
	return result.kind === 'rendered' ? readPng(Buffer.from(result.bytes)) : result.reason;
}

/** The first frame by DCMTK, with the window that this service takes; undefined where it has no codec. */
function byDcmtk(path: string, folder: string): SeenPicture | undefined {
	const tags = ['0028,0101', '0028,1050', '0028,1053'].flatMap((tag) => ['+P', tag]);
	const dump = spawnSync('dcmdump', [...tags, path], { encoding: 'latin1' }).stdout;
	const isWide = Number(/\(0028,0101\) US (\d+)/.exec(dump)?.[1] ?? 8) > 8 || dump.includes('(0028,1053)');
	const window = /\(0028,1050\) DS \[/.test(dump) ? ['+Wi', '1'] : isWide ? ['+Wm'] : [];
	const picture = join(folder, 'picture.pnm');
	const isMade = ['dcmj2pnm', 'dcml2pnm'].some((program) => spawnSync(program, ['+op', ...window, path, picture]).status === 0);
	if (!isMade) return undefined;
	const file = readFileSync(picture);
	const [head = '', kind, width, height] =
		/^P([56])\s+(?:#.*\n)?(\d+)\s+(\d+)\s+\d+\s/.exec(file.toString('latin1', 0, 200)) ?? assert.fail();
	return { width: Number(width), height: Number(height), samples: kind === '5' ? 1 : 3, bytes: file.subarray(head.length) };
}

function difference(left: SeenPicture, right: SeenPicture): number {
	assert.deepEqual([left.width, left.height], [right.width, right.height]);
	const samples = Math.max(left.samples, right.samples);
	const at = ({ samples: own, bytes }: SeenPicture, pixel: number, sample: number) => bytes[pixel * own + Math.min(sample, own - 1)] ?? 0;
	let most = 0;
	for (let pixel = 0; pixel < left.width * left.height; pixel++) {
		for (let sample = 0; sample < samples; sample++) most = Math.max(most, Math.abs(at(left, pixel, sample) - at(right, pixel, sample)));
	}
	return most;
}

describe('pictures beside those of DCMTK', { skip: without('corpus') || without('dcmtk') }, () => {
	test('the images of the corpus look alike, and whatever is not shown says why', async (context) => {
		const folder = temporaryFolder();
		context.after(() => folder[Symbol.dispose]());
		let compared = 0;
		for (const { path, bytes } of corpusFiles('dicom')) {
			if (!path.endsWith('.dcm')) continue;
			const picture = await own(bytes);
			if (typeof picture === 'string') {
				assert.match(picture, /^[a-zA-Z][^^]*$/, path);
				continue;
			}
			const theirs = otherwise.test(path) ? undefined : byDcmtk(join(corpusDirectory, path), folder.path);
			if (theirs === undefined) continue;
			assert.ok(difference(picture, theirs) <= differenceMax, path);
			compared++;
		}
		assert.ok(compared >= 60, `${compared} images were compared`);
	});
});
