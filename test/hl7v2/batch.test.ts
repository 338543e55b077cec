import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countMessages, splitMessages } from '#hl7v2/batch.ts';
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
