import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { type Frame, FrameReader, frameAll } from '#surfaces/mllp/frame.ts';
import { fc, runs } from '#test/support/fuzzing.ts';

const VT = '\x0b';
const FS = '\x1c';
const CR = '\r';
const limit = 64 * 1024;

function read(chunks: readonly (string | Buffer)[], reader = new FrameReader(limit)): Frame[] {
	return chunks.flatMap((chunk) => reader.push(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk));
}

function texts(frames: readonly Frame[]): string[] {
	return frames.map((frame) =>
		frame.kind === 'message'
			? Buffer.from(frame.bytes).toString('latin1')
			: `too long: ${frame.length} ${Buffer.from(frame.head).toString('latin1')}`,
	);
}

describe('MLLP blocks', () => {
	const message = 'MSH|^~\\&|A|B\rPID|1\r';

	test('a frame split at every byte is one message', () => {
		const whole = `${VT}${message}${FS}${CR}`;
		for (let at = 0; at <= whole.length; at++) assert.deepEqual(texts(read([whole.slice(0, at), whole.slice(at)])), [message]);
		assert.deepEqual(texts(read([...whole])), [message]);
	});

	test('ten frames in one packet are ten messages in order', () => {
		const messages = Array.from({ length: 10 }, (_, index) => `MSH|${index}\r`);
		assert.deepEqual(texts(read([messages.map((text) => `${VT}${text}${FS}${CR}`).join('')])), messages);
	});

	test('bytes between frames are skipped and counted, the CR that ends a block is not among them', () => {
		const reader = new FrameReader(limit);
		assert.deepEqual(texts(read([`noise${VT}A${FS}${CR}\r\n${VT}B${FS}${CR}`], reader)), ['A', 'B']);
		assert.deepEqual(reader.takeCounts(), { skipped: 7, restarted: 0, empty: 0 });
		assert.deepEqual(reader.takeCounts(), { skipped: 0, restarted: 0, empty: 0 });
	});

	test('an end of block without CR ends the message when the next one begins, or nothing follows', () => {
		const reader = new FrameReader(limit);
		assert.deepEqual(texts(read([`${VT}A${FS}${VT}B${FS}`], reader)), ['A']);
		assert.deepEqual([reader.mayEnd, reader.insideFrame], [true, true]);
		assert.deepEqual(texts(reader.settle()), ['B']);
		assert.deepEqual([reader.mayEnd, reader.insideFrame], [false, false]);
		assert.deepEqual(texts(read([`${CR}${VT}C${FS}`, `${CR}${VT}D${FS}`, CR], reader)), ['C', 'D']);
		assert.equal(reader.takeCounts().skipped, 0);
		assert.deepEqual(texts(read([`${VT}E${FS}\n`], reader)), ['E']);
	});

	test('an end of block inside the data is data, and the message ends at the next one', () => {
		for (const chunks of [[`${VT}MSH|Do${FS}e\r${FS}${CR}${VT}B${FS}${CR}`], [`${VT}MSH|Do${FS}`, 'e\r', FS, `${CR}${VT}B`, FS, CR]]) {
			assert.deepEqual(texts(read(chunks)), [`MSH|Do${FS}e\r`, 'B']);
		}
	});

	test('bytes behind an end without CR do not swallow the next message', () => {
		assert.deepEqual(texts(read([`${VT}MSH|A\r${FS}noise${VT}MSH|B\r${FS}${CR}`])), [`MSH|A\r${FS}noise`, 'MSH|B\r']);
	});

	test('doubled start and end bytes are skipped', () => {
		const reader = new FrameReader(limit);
		assert.deepEqual(texts(read([`${VT}${VT}A${FS}${FS}${CR}${VT}B${FS}${CR}`], reader)), ['A', 'B']);
		assert.deepEqual(reader.takeCounts(), { skipped: 3, restarted: 0, empty: 0 });
	});

	test('a block that starts anew before its end gives way to the later one', () => {
		const reader = new FrameReader(limit);
		assert.deepEqual(texts(read([`${VT}MSH|half\rPI`, `${VT}MS`, `H|whole\r${FS}${CR}`], reader)), ['MSH|whole\r']);
		assert.equal(reader.takeCounts().restarted, 1);
	});

	test('a vertical tab within the data stays data', () => {
		assert.deepEqual(texts(read([`${VT}MSH|a${VT}b\r${FS}${CR}`])), [`MSH|a${VT}b\r`]);
	});

	test('an empty block is counted and is no message', () => {
		const reader = new FrameReader(limit);
		assert.deepEqual(read([`${VT}${FS}${CR}${VT}${VT}${FS}${CR}`], reader), []);
		assert.equal(reader.takeCounts().empty, 2);
	});

	test('a block of exactly the limit is taken, one byte more is not', () => {
		const exact = 'x'.repeat(limit);
		assert.deepEqual(texts(read([`${VT}${exact}${FS}${CR}`])), [exact]);
		const [frame] = read([`${VT}MSH|${exact}${FS}${CR}`]);
		assert.equal(frame?.kind === 'too-long' && frame.length, limit + 4);
	});

	test('a block over the limit keeps its head only, and the next one is read', () => {
		const reader = new FrameReader(limit);
		const filler = Buffer.alloc(64 * 1024, 'x');
		const frames = read([`${VT}${message}`, ...Array.from({ length: 1600 }, () => filler), `${FS}${CR}${VT}B${FS}${CR}`], reader);
		assert.equal(frames.length, 2);
		const [long] = frames;
		assert.ok(long?.kind === 'too-long');
		assert.equal(long.length, message.length + 1600 * filler.length);
		assert.equal(long.head.length, 8192);
		assert.ok(Buffer.from(long.head).toString('latin1').startsWith(message));
		assert.deepEqual(texts(frames.slice(1)), ['B']);
	});

	test('a message in a shared packet has memory of its own', () => {
		const packet = Buffer.from(`${VT}MSH|A\r${FS}${CR}`.repeat(50), 'latin1');
		for (const frame of new FrameReader(limit).push(packet)) {
			assert.ok(frame.kind === 'message');
			assert.equal(frame.bytes.buffer.byteLength, frame.bytes.length);
		}
	});

	test('whatever the bytes and however they are cut, the same frames and counts come out', () => {
		const piece = fc.oneof(
			fc.constantFrom(VT, FS, CR, `${FS}${CR}`, 'MSH|', `${VT}MSH|`, 'FHS|', 'x'.repeat(40)),
			fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(200), { maxLength: 12 }), (pieces, cuts) => {
				const whole = Buffer.from(pieces.join(''), 'latin1');
				const bounds = [...new Set(cuts.map((cut) => Math.min(cut, whole.length)))].sort((a, b) => a - b);
				const chunks = [0, ...bounds].map((from, index) => whole.subarray(from, bounds[index] ?? whole.length));
				const [one, cut] = [new FrameReader(64), new FrameReader(64)];
				assert.deepEqual(texts(read(chunks, cut)), texts(read([whole], one)));
				assert.deepEqual(cut.takeCounts(), one.takeCounts());
				assert.equal(cut.insideFrame, one.insideFrame);
				assert.deepEqual(texts(cut.settle()), texts(one.settle()));
			}),
			{ numRuns: runs(500) },
		);
	});

	test('messages framed for sending are read back, with junk between them', () => {
		const data = fc
			.uint8Array({ minLength: 1, maxLength: 300 })
			.map((bytes) => bytes.map((byte) => (byte === 0x0b || byte === 0x1c ? 0x20 : byte)));
		const junk = fc.uint8Array({ maxLength: 10 }).map((bytes) => bytes.map((byte) => (byte === 0x0b ? 0 : byte)));
		fc.assert(
			fc.property(fc.array(fc.tuple(junk, data), { maxLength: 8 }), (parts) => {
				const wire = Buffer.concat(parts.flatMap(([between, bytes]) => [between, frameAll([bytes])]));
				assert.deepEqual(
					texts(read([wire])),
					parts.map(([, bytes]) => Buffer.from(bytes).toString('latin1')),
				);
			}),
			{ numRuns: runs(200) },
		);
	});
});
