import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasControlCharacters } from '#hl7v2/control-characters.ts';
import { interpret } from '#hl7v2/interpret.ts';
import { message, plainSettings } from './reading.ts';

describe('control characters in bytes', () => {
	test('are found at every place, whatever is around them', () => {
		for (let length = 0; length <= 24; length++) {
			for (let offset = 0; offset < 4; offset++) {
				const bytes = Buffer.alloc(32, 'a').subarray(offset, offset + length);
				assert.equal(hasControlCharacters(bytes), false);
				for (let at = 0; at < length; at++) {
					for (const byte of [0, 1, 8, 0x0b, 0x0c, 0x0e, 0x1b, 0x1f]) {
						bytes[at] = byte;
						assert.equal(hasControlCharacters(bytes), true, `${byte} at ${at} of ${length}`);
					}
					for (const byte of [9, 10, 13, 0x20, 0x7f, 0x80, 0xa0, 0xff]) {
						bytes[at] = byte;
						assert.equal(hasControlCharacters(bytes), false, `${byte} at ${at} of ${length}`);
					}
				}
			}
		}
	});
});

function read(...segments: string[]) {
	const result = interpret(message('MSH|^~\\&|LAB|HOSP|||20240102090000+0100||ORU^R01|1|P|2.5.1', ...segments), plainSettings);
	assert.equal(result.kind, 'apply');
	return result.kind === 'apply' ? result.changeSet : { changes: [], flags: [] };
}

const obr = 'OBR|1||F1|718-7^Hb^LN';

describe('a message with control characters', () => {
	test('is read with U+FFFD in their place, so that no two numbers are one, and is flagged', () => {
		const { changes, flags } = read('PID|1||C17957\x0011921^^^MRN||Sm\x01ith^Ann', obr, 'OBX|1|TX|2^a^L||x\x0by\x0cz\x1f||||||F');
		const text = JSON.stringify(changes);
		for (const part of ['C17957\ufffd11921', 'Sm\ufffdith', 'x\\ny\\nz\ufffd']) assert.ok(text.includes(part), `${part} in ${text}`);
		assert.doesNotMatch(text, /\\u00[01]/);
		assert.deepEqual(flags.filter(({ code }) => code === 'unreadable-value').length, 1);
	});

	test('is no other one where they only fill fields up, or frame it', () => {
		const { changes, flags } = read('PID|1||4711\0\0^^^MRN||Smith\0^Ann', obr, 'OBX|1|TX|2^a^L||x||||||F\0\0');
		assert.deepEqual(flags, []);
		const text = JSON.stringify(changes);
		assert.ok(text.includes('"4711"') && text.includes('"Smith"'));
		assert.doesNotMatch(text, /\ufffd|\\u0000/);
	});

	test('keeps tabs and line ends', () => {
		const { changes, flags } = read('PID|1||4711^^^MRN', obr, 'OBX|1|TX|2^a^L||a\tb||||||F');
		assert.deepEqual(flags, []);
		assert.ok(JSON.stringify(changes).includes('a\\tb'));
	});
});
