import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { escapeText } from '#hl7v2/escape.ts';
import { Message } from '#hl7v2/message.ts';
import { usualDelimiters, wire } from '#test/support/hl7v2.ts';

function read(value: string): string {
	return (
		Message.parse(wire('MSH|^~\\&|A', `OBX|${value}`))
			.first('OBX')
			?.text(1) ?? ''
	);
}

describe('escape sequences', () => {
	for (const [sent, text] of [
		['a\\F\\b\\S\\c\\T\\d\\R\\e\\E\\f', 'a|b^c&d~e\\f'],
		['\\P\\', '#'],
		['\\X41\\\\X0D0A\\', 'A\r\n'],
		['\\XC3A9\\', 'é'],
		['one\\.br\\two', 'one\ntwo'],
		['one\\.sp2\\two\\.sp+1\\three\\.sp\\four', 'one\n\ntwo\nthree\nfour'],
		['a\\.sk3\\b\\.in+4\\c\\.ti-2\\d\\.fi\\\\.nf\\', 'a   bcd'],
		['a\\.ce\\b', 'a\nb'],
		['\\H\\bold\\N\\ plain', 'bold plain'],
	] as const) {
		test(`${sent} reads as ${JSON.stringify(text)}`, () => assert.equal(read(sent), text));
	}

	for (const sent of [
		'\\C2842\\',
		'\\M2442\\',
		'\\Zlocal\\',
		'C:\\scan\\1',
		'a\\b',
		'\\',
		'\\\\',
		'\\X4\\',
		'\\Xzz\\',
		'\\X\\',
		'\\.xy\\',
		'\\f\\',
		'\\Q\\',
	]) {
		test(`${sent} stays as it is`, () => assert.equal(read(sent), sent));
	}

	test('a sequence behind something malformed is still read', () => {
		assert.equal(read('C:\\scan\\F\\x'), 'C:\\scan|x');
		assert.equal(read('\\Q\\T\\'), '\\Q&');
	});

	test('what a sequence expands to is bounded', () => {
		assert.equal(read('\\.sp999999999\\').length, 100);
	});

	test('an escaped delimiter does not split', () => {
		const obx = Message.parse(wire('MSH|^~\\&|A', 'OBX|a\\S\\b^c\\T\\d&e')).first('OBX');
		assert.equal(obx?.text(1), 'a^b');
		assert.equal(obx?.text(1, 2), 'c&d');
		assert.equal(obx?.text(1, 2, 0, 2), 'e');
	});

	test('hexadecimal bytes are in the character set of the message', () => {
		const bytes = Buffer.from('MSH|^~\\&|A|||||||||||||||8859/5\rOBX|\\XB8D2\\\r');
		assert.equal(Message.parse(bytes).first('OBX')?.text(1), 'Ив');
	});
});

test('text of our own is escaped, its line ends become spaces', () => {
	assert.equal(escapeText('a|b^c~d\\e&f\r\ng', usualDelimiters), 'a\\F\\b\\S\\c\\R\\d\\E\\e\\T\\f  g');
	assert.equal(escapeText('a&b', { ...usualDelimiters, subcomponent: '' }), 'a&b');
});
