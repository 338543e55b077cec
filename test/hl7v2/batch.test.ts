import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { batchFlag, countMessages, splitMessages } from '#hl7v2/batch.ts';
import { readHead } from '#hl7v2/head.ts';

function split(text: string): string[] {
	const bytes = Buffer.from(text, 'latin1');
	const messages = splitMessages(bytes).map((message) => Buffer.from(message).toString('latin1'));
	const isMessage = messages.length > 1 || messages[0] !== text || text.includes('MSH|^');
	assert.equal(countMessages(bytes), isMessage ? messages.length : 0);
	return messages;
}

const one = 'MSH|^~\\&|A\rPID|1\r';
const two = 'MSH|^~\\&|B\rPID|2\r';

describe('a frame', () => {
	test('of one message is that message, not copied', () => {
		const bytes = Buffer.from(`${one}NTE|1||MSH is the header|MSH|^~`);
		assert.deepEqual(splitMessages(bytes), [bytes]);
		assert.equal(splitMessages(bytes)[0], bytes);
		assert.equal(countMessages(bytes), 1);
	});

	test('of several messages is split at each MSH', () => {
		assert.deepEqual(split(one + two + one), [one, two, one]);
		assert.deepEqual(split((one + two).replaceAll('\r', '\n')), [one.replaceAll('\r', '\n'), two.replaceAll('\r', '\n')]);
		assert.deepEqual(split((one + two).replaceAll('\r', '\r\n')).length, 2);
	});

	test('of a batch is unwrapped', () => {
		assert.deepEqual(split(`FHS|^~\\&|S\rBHS|^~\\&|S\r${one}${two}BTS|2\rFTS|1\r`), [one, two]);
		assert.deepEqual(split(`BHS|^~\\&|S\r${one}BTS|1\rBHS|^~\\&\r${two}BTS|1`), [one, two]);
		assert.deepEqual(split(`\xef\xbb\xbfFHS|^~\\&\r${one}FTS`), [one]);
	});

	test('of a batch with a damaged header has a message of its own there, to be answered', () => {
		assert.deepEqual(split(`BHS|^~\\&|S\r${one}MSH|^~\rPID|3\r${two}BTS|3\r`), [one, 'MSH|^~\rPID|3\r', two]);
	});

	test('of a message and its continuation is one message', () => {
		const first = `${one}OBX|1|FT|A||No evidence\rADD|\rDSC|4711|F\r`;
		const second = 'MSH|^~\\&|A|||||||||||4711\rADD| of fracture\r';
		assert.deepEqual(split(first + second + two), [first + second, two]);
		assert.deepEqual(split(first + second.replace('4711', '4712')).length, 2);
		assert.deepEqual(split(first + second.replace('|A|', '|B|')).length, 2);
	});

	for (const [text, expected] of [
		[`BHS|^~\\&|S\r${one}${two}BTS|2\r`, undefined],
		[`FHS|^~\\&|S\rBHS|^~\\&|S\r${one}BTS|1\rBHS|^~\\&|S\r${two}BTS|1\rFTS|2\r`, undefined],
		[`BHS|^~\\&|S\r${one}${two}BTS\r`, undefined],
		[`BHS|^~\\&|S\r${one}${two}BTS|3\r`, 'BTS-1 counts 3 messages, and 2 came'],
		[`FHS|^~\\&|S\rBHS|^~\\&|S\r${one}BTS|1\rFTS|2\r`, 'FTS-1 counts 2 batches, and 1 came'],
		[one, undefined],
	] as const) {
		test(`that ends ${JSON.stringify(text.slice(-15))}: ${expected ?? 'its counts are right'}`, () => {
			assert.equal(batchFlag(Buffer.from(text))?.text, expected);
		});
	}

	test('of messages that are views shares the bytes of the frame', () => {
		const bytes = Buffer.from(one + two);
		for (const message of splitMessages(bytes)) assert.equal(message.buffer, bytes.buffer);
	});

	test('without a message comes back whole, to be answered', () => {
		assert.deepEqual(split('hello'), ['hello']);
		assert.deepEqual(split('FHS|^~\\&\rBHS|^~\\&\rBTS|0\rFTS|0\r'), ['FHS|^~\\&\rBHS|^~\\&\rBTS|0\rFTS|0\r']);
		assert.deepEqual(split(''), ['']);
	});

	test('with a line of text that begins with the letters is one message', () => {
		const text = `${one}MSHA is no header\rNTE|MSH\r`;
		assert.deepEqual(split(text), [text]);
	});
});

describe('the head of a message', () => {
	test('is read from MSH alone', () => {
		const bytes = Buffer.from('\ufeffMSH|^~\\&|M\\T\\N^x|Caf\xe9|||||ORU^R01|7\rPID|');
		assert.deepEqual(readHead(bytes), { application: 'M&N', facility: 'Caf\xe9', messageType: 'ORU^R01', controlId: '7' });
	});

	test('is found in an MSH that is longer than usual', () => {
		const bytes = Buffer.from(`MSH|^~\\&|A|B|${'x'.repeat(5000)}||||ADT^A08|7\rPID|1`);
		assert.deepEqual(readHead(bytes), { application: 'A', facility: 'B', messageType: 'ADT^A08', controlId: '7' });
	});

	test('of what is no message is undefined', () => {
		for (const text of ['', 'PID|1', 'MSH', 'MSH|^^^^|']) assert.equal(readHead(Buffer.from(text)), undefined);
	});
});
