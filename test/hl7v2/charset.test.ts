import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Message } from '#hl7v2/message.ts';

function message(charset: string, name: Uint8Array | string): Message {
	const text = typeof name === 'string' ? Buffer.from(name, 'latin1') : name;
	const head = Buffer.from(`MSH|^~\\&|A|B|||2026||ADT^A08|1|P|2.5.1||||||${charset}\rPID|1||`);
	return Message.parse(Buffer.concat([head, text, Buffer.from('|after\r')]));
}

function read(charset: string, name: Uint8Array | string): [name: string, charset: string, assumed: boolean] {
	const parsed = message(charset, name);
	assert.equal(parsed.first('PID')?.text(4), 'after');
	return [parsed.first('PID')?.text(3) ?? '', parsed.charset.name, parsed.charsetAssumed];
}

describe('MSH-18', () => {
	for (const [declared, bytes, text, name] of [
		['UNICODE UTF-8', 'M\xc3\xbcller', 'Müller', 'utf-8'],
		['UTF-8', 'M\xc3\xbcller', 'Müller', 'utf-8'],
		['UNICODE', 'M\xc3\xbcller', 'Müller', 'utf-8'],
		['8859/1', 'M\xfcller', 'Müller', 'windows-1252'],
		['ISO-8859-1', 'M\xfcller', 'Müller', 'windows-1252'],
		['8859/2', 'Wa\xb3\xeasa', 'Wałęsa', 'iso-8859-2'],
		['8859/5', '\xb8\xd2\xd0\xdd', 'Иван', 'iso-8859-5'],
		['8859/7', '\xc1\xe8\xde\xed\xe1', 'Αθήνα', 'iso-8859-7'],
		['8859/9', '\xdd\xfe\xfd', 'İşı', 'windows-1254'],
		['8859/15', '\xa4 \xbd', '€ œ', 'iso-8859-15'],
		['windows-1251', '\xc8\xe2\xe0\xed', 'Иван', 'windows-1251'],
		['8859/1~UNICODE UTF-8', 'M\xfcller', 'Müller', 'windows-1252'],
		['GB 18030-2000', '\xce\xa2\x81\x7c', '微亅', 'gb18030'],
		['BIG-5', '\xa5\x5c', '功', 'big5'],
		['ISO IR87', '\x1b$B;3ED\x1b(B', '山田', 'iso-2022-jp'],
		['KS X 1001', '\xb1\xe8', '김', 'euc-kr'],
	] as const) {
		test(`${declared} is read as ${name}`, () => {
			assert.deepEqual(read(declared, bytes), [text, name, false]);
		});
	}

	test('absent: UTF-8 when the bytes are valid UTF-8, else Windows-1252', () => {
		assert.deepEqual(read('', 'M\xc3\xbcller'), ['Müller', 'utf-8', true]);
		assert.deepEqual(read('', 'M\xfcller \x80'), ['Müller €', 'windows-1252', true]);
		assert.deepEqual(read('""', 'M\xfcller'), ['Müller', 'windows-1252', true]);
		assert.deepEqual(read('', 'plain'), ['plain', 'utf-8', true]);
	});

	test('unknown: as if it were absent', () => {
		assert.deepEqual(read('KLINGON', 'M\xfcller'), ['Müller', 'windows-1252', true]);
		assert.deepEqual(read('8859/12', 'M\xc3\xbcller'), ['Müller', 'utf-8', true]);
		assert.deepEqual(read('UTF-16', 'M\xc3\xbcller'), ['Müller', 'utf-8', true]);
	});

	test('contradicted by the bytes: as if it were absent', () => {
		assert.deepEqual(read('UNICODE UTF-8', 'M\xfcller'), ['Müller', 'windows-1252', true]);
		assert.deepEqual(read('ASCII', 'M\xc3\xbcller'), ['Müller', 'utf-8', true]);
	});

	test('declared and used by nothing: as declared', () => {
		assert.deepEqual(read('ASCII', 'plain'), ['plain', 'utf-8', false]);
		assert.deepEqual(read('8859/1', 'plain'), ['plain', 'windows-1252', false]);
	});
});

test('a character set encodes what it can and writes ? for the rest', () => {
	assert.equal(message('8859/5', '').charset.encode('Иван ü'), '\xb8\xd2\xd0\xdd ?');
	assert.equal(message('8859/1', '').charset.encode('Müller'), 'M\xfcller');
	assert.equal(message('UNICODE UTF-8', '').charset.encode('ü'), '\xc3\xbc');
	assert.equal(message('BIG-5', '\xa4\x5c').charset.encode('a功'), 'a?');
});
