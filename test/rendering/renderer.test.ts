import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { silentLog } from '#core/log.ts';
import { part10Head } from '#dicom/part10.ts';
import { Renderer } from '#rendering/renderer.ts';
import { ctStorage, element, explicitLittle } from '#test/support/data-set.ts';
import { createMetrics } from '../../src/metrics.ts';

const encapsulatedUncompressed = '1.2.840.10008.1.2.1.98';
const side = 300;
const frames = 10;

function item(bytes: Buffer): Buffer {
	const head = Buffer.from('feff00e000000000', 'hex');
	head.writeUInt32LE(bytes.length, 4);
	return Buffer.concat([head, bytes]);
}

/** An image with a fragment for each frame, and no offset table. */
function image(): Buffer {
	const fragments = Array.from({ length: frames }, (_, frame) => item(Buffer.alloc(side * side, frame)));
	const delimiter = Buffer.from('feffdde000000000', 'hex');
	return Buffer.concat([
		part10Head({ sopClassUid: ctStorage, sopInstanceUid: '1.2', transferSyntaxUid: encapsulatedUncompressed }),
		element(0x0028_0002, 'US', 1),
		element(0x0028_0004, 'CS', 'MONOCHROME2'),
		element(0x0028_0008, 'IS', String(frames)),
		element(0x0028_0010, 'US', side),
		element(0x0028_0011, 'US', side),
		element(0x0028_0100, 'US', 8),
		element(0x7fe0_0010, 'OB', Buffer.concat([item(Buffer.alloc(0)), ...fragments, delimiter]), explicitLittle, 0xff_ff_ff_ff),
	]);
}

describe('the renderer', () => {
	test('finds the frames of an image once, and then reads only its header and the frame', async () => {
		const bytes = image();
		let reads = 0;
		const objects = {
			async *read(_key: string, range = { start: 0, end: bytes.length }) {
				reads += 1;
				yield bytes.subarray(range.start, range.end);
			},
			size: async () => bytes.length,
		};
		const instance = {
			...{ studyUid: '1', seriesUid: '1.1', sopInstanceUid: '1.2', sopClassUid: ctStorage },
			...{ transferSyntaxUid: encapsulatedUncompressed, objectKey: 'k', bytes: bytes.length },
		};
		const renderer = new Renderer({
			worker: new URL('./worker.ts', import.meta.url),
			objects,
			limits: {
				...{ renderedPixelsMax: side * side, renderedMsMax: 60_000, renderingsMax: 1, renderingsWaitingMax: 10 },
				...{ renderedCacheBytesMax: 0, renderedFramesMax: frames, dicomMetadataBytesMax: 1024 * 1024 },
			},
			metrics: createMetrics({ processMetrics: false }),
			log: silentLog,
		});
		try {
			const wish = { mediaType: 'image/png', quality: 90, window: undefined, viewport: undefined } as const;
			assert.deepEqual([...(await renderer.frame(instance, 1, wish)).bytes], [0]);
			reads = 0;
			for (let frame = 2; frame <= frames; frame++) assert.deepEqual([...(await renderer.frame(instance, frame, wish)).bytes], [frame - 1]);
			assert.equal(reads, 2 * (frames - 1));
		} finally {
			await renderer.close();
		}
	});
});
