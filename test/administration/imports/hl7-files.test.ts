import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { messagesOf } from '#administration/imports/hl7-files.ts';
import { adt } from '#test/support/adt.ts';

const folder = mkdtempSync(join(tmpdir(), 'tributary-hl7-files-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const MiB = 1024 * 1024;
const bytesMax = 100_000;
/** Segments that begin with MSH and are none, and text that holds the letters. */
const tail = (length: number) => `NTE|1||${'MSH is no segment here. '.repeat(Math.ceil(length / 24))}\rMSHX|x\rZMS|1\r`;

/** The control ids of the messages, and `!` and its beginning for what is too long. */
async function read(content: string): Promise<string[]> {
	const path = join(folder, 'messages.hl7');
	writeFileSync(path, content);
	const found: string[] = [];
	for await (const { bytes, isTooLong } of messagesOf(path, bytesMax)) {
		const [, id = bytes.toString('latin1', 0, 20)] = /^MSH(?:[^|]*\|){9}([^|]*)/.exec(bytes.toString('latin1').trim()) ?? [];
		found.push(isTooLong ? `!${id}` : id);
	}
	return found;
}

const framed = (message: string) => `\x0b${message}\x1c\r`;

describe('messages of a file', () => {
	for (const [kind, wrapped] of [
		['lines', (message: string) => message],
		['frames', framed],
	] as const) {
		test(`in ${kind}: one that is too long is one entry, and the next one follows, wherever the reads end`, async () => {
			// Reads have a MiB: the long one ends within one, in the next and several later, at every place around the end of a read.
			const lengths = [
				bytesMax + 1,
				MiB,
				2 * MiB + bytesMax,
				5 * MiB,
				...Array.from({ length: 24 }, (_, index) => 2 * MiB - 700 + index * 40),
			];
			for (const length of lengths) {
				const long = adt('long', '2', 2) + tail(length);
				const content = [adt('one', '1', 1), long, adt('three', '3', 3), long, adt('five', '5', 5)].map(wrapped).join('');
				assert.deepEqual(await read(content), ['one', '!long', 'three', '!long', 'five'], `${length} bytes`);
			}
		});

		test(`in ${kind}: one that is too long at the end of the file is one entry`, async () => {
			for (const length of [bytesMax + 1, 2 * MiB + bytesMax, 5 * MiB])
				assert.deepEqual(await read([adt('one', '1', 1), adt('long', '2', 2) + tail(length)].map(wrapped).join('')), ['one', '!long']);
			assert.deepEqual(await read(wrapped(adt('long', '2', 2) + tail(3 * MiB)).slice(0, -100)), ['!long']);
		});
	}

	test('whose header is cut by the end of a read is found after one that is too long', async () => {
		const head = adt('long', '2', 2);
		for (let cut = -12; cut <= 12; cut++) {
			const filler = 3 * MiB + cut - head.length - 'NTE|1||\r'.length;
			const content = `${head}NTE|1||${'x'.repeat(filler)}\r${adt('next', '3', 3)}`;
			assert.deepEqual(await read(content), ['!long', 'next'], String(cut));
		}
	});
});
