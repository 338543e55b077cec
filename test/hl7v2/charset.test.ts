import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolveCharset } from '#hl7v2/charset.ts';
import { Message } from '#hl7v2/message.ts';
import { settingDefinitions } from '#record/settings/table.ts';

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
		['ISO IR87', '\x1b$B;3ED\x1b(B', '山田', 'iso-2022'],
		['~ISO IR87', '\x1b$B;3ED\x1b(B', '山田', 'iso-2022'],
		['ISO IR6~ISO IR87', '\x1b$B;3ED\x1b(J', '山田', 'iso-2022'],
		['ISO IR6~ISO IR87', '\x1b$@;3ED\x1b(B', '山田', 'iso-2022'],
		// The bytes of these characters hold `|` and `\\`.
		['~ISO IR87', '\x1b$BF|K\\8l\x1b(B', '日本語', 'iso-2022'],
		['ISO IR14~ISO IR87', '\xd4\xcf\xc0\xde \x1b$B;3ED\x1b(J', 'ﾔﾏﾀﾞ 山田', 'iso-2022'],
		['ISO IR14', '\xd4\xcf\xc0\xde', 'ﾔﾏﾀﾞ', 'shift_jis'],
		['~ISO IR14', '\x1b)I\xd4\xcf\xc0\xde', 'ﾔﾏﾀﾞ', 'iso-2022'],
		['~ISO IR14', '\x1b(ITO@^\x1b(B', 'ﾔﾏﾀﾞ', 'iso-2022'],
		['~ISO IR159', '\x1b$(D0!\x1b(B', '丂', 'iso-2022'],
		['~KS X 1001', '\x1b$)C\xb1\xe8 Kim', '김 Kim', 'iso-2022'],
		['~KS X 1001', '\x1b$(C1h\x1b(B', '김', 'iso-2022'],
		['8859/1~KS X 1001', 'M\xfcller \x1b$)C\xb1\xe8', 'Müller 김', 'iso-2022'],
		['~GB 2312', '\x1b$)A\xce\xa2', '微', 'iso-2022'],
		['8859/1~8859/5', 'M\xfcller \x1b-L\xb8\xd2\xd0\xdd', 'Müller Иван', 'iso-2022'],
		['8859/1~ISO IR87', 'M\xfcller', 'Müller', 'windows-1252'],
		['KS X 1001', '\xb1\xe8', '김', 'euc-kr'],
	] as const) {
		test(`${declared} is read as ${name}`, () => {
			assert.deepEqual(read(declared, bytes), [text, name, false]);
		});
	}

	test('a Japanese and a Korean message keep their fields, components and repetitions', () => {
		const japanese = message('~ISO IR87', 'Yamada^Tarou~\x1b$B;3ED\x1b(B^\x1b$BB@O:\x1b(B~\x1b$B$d$^$@\x1b(B^\x1b$B$?$m$&\x1b(B').first(
			'PID',
		);
		const korean = message(
			'ISO IR6~KS X 1001',
			'Hong^Gildong~\x1b$)C\xfb\xf3^\x1b$)C\xd1\xce\xd4\xd7~\x1b$)C\xc8\xab^\x1b$)C\xb1\xe6\xb5\xbf',
		).first('PID');
		const names = (pid: typeof japanese) => [0, 1, 2].map((repetition) => [pid?.text(3, 1, repetition), pid?.text(3, 2, repetition)]);
		assert.deepEqual(names(japanese), [
			['Yamada', 'Tarou'],
			['山田', '太郎'],
			['やまだ', 'たろう'],
		]);
		assert.deepEqual(names(korean), [
			['Hong', 'Gildong'],
			['洪', '吉洞'],
			['홍', '길동'],
		]);
		assert.deepEqual([japanese?.text(4), korean?.text(4)], ['after', 'after']);
	});

	for (const [declared, bytes, text] of [
		['', '\x1b$B;3ED\x1b(B', '山田'],
		['UNICODE UTF-8', '\x1b$B;3ED\x1b(B', '山田'],
		['8859/1', 'M\xfcller \x1b$B;3ED\x1b(B', 'Müller 山田'],
	] as const) {
		test(`'${declared}' with escape sequences reads them, and is flagged`, () => {
			assert.deepEqual(read(declared, bytes), [text, 'iso-2022', true]);
			assert.equal(message(declared, bytes).hasStrayEscape, true);
		});
	}

	test('an ESC that begins no escape sequence is flagged too, unless the set is declared', () => {
		assert.equal(message('UNICODE UTF-8', 'M\xc3\xbcller \x1b[1m').hasStrayEscape, true);
		assert.equal(message('~ISO IR87', '\x1b$B;3ED\x1b(B').hasStrayEscape, false);
		assert.equal(message('~ISO IR87', 'plain').hasStrayEscape, false);
	});

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

test('a character set that is given holds, whatever MSH-18 says', () => {
	const named = (given: string, declared: string, name: string) => {
		const head = `MSH|^~\\&|A|B|||2026||ADT^A08|1|P|2.5.1||||||${declared}\rPID|1||`;
		const parsed = Message.parse(Buffer.from(`${head}${name}|after\r`, 'latin1'), { charset: given });
		return [parsed.first('PID')?.text(3), parsed.first('PID')?.text(4), parsed.charsetAssumed];
	};
	assert.deepEqual(named('8859/1', 'UNICODE UTF-8', 'M\xfcller'), ['Müller', 'after', false]);
	assert.deepEqual(named('8859/5', '8859/1', '\xb8\xd2'), ['Ив', 'after', false]);
	// The second byte of the character is a backslash.
	assert.deepEqual(named('ISO IR14', '', '\x83\x5c'), ['ソ', 'after', false]);
});

test('every character set that a setting may name is one that is read', () => {
	const { fault } = settingDefinitions.charset;
	const names = fault('?')?.replace('a character set is ', '').split(', ') ?? [];
	assert.ok(names.length > 15);
	for (const name of names) {
		assert.equal(fault(name), undefined);
		// Two of them are reached by their escape sequences alone.
		const text = /IR(87|159)$/.test(name) ? 'a\x1b(B' : 'a';
		assert.equal(resolveCharset(name, Buffer.from(text)).assumed, false, name);
	}
	assert.equal(fault('ISO IR6~ISO IR87'), fault('ASCII~KS X 1001'), 'further sets may follow');
});
