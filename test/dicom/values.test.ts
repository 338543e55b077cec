import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isAeTitle } from '#dicom/ae-title.ts';
import { characterSetOf } from '#dicom/character-set.ts';
import { DataSetError } from '#dicom/fault.ts';
import { implementationClassUid, implementationVersionName } from '#dicom/implementation.ts';
import { part10Head, readFileMeta } from '#dicom/part10.ts';
import { dateOf, dateTimeOf, integerOf, nameTextOf, personNameOf, textOf, timeOf } from '#dicom/values.ts';
import { isUid } from '#record/uid.ts';
import { fc, runs } from '#test/support/fuzzing.ts';

const decode = (declared: string, latin1: string) => characterSetOf(declared).decode(Buffer.from(latin1, 'latin1'));

describe('UIDs and AE titles', () => {
	test('follow PS3.5', () => {
		for (const uid of ['1', '1.2.840.10008.1.2', '0.0', '2.25.0', `${'1.'.repeat(31)}12`]) assert.ok(isUid(uid), uid);
		for (const uid of ['', '.', '1.', '.1', '1..2', '01', '1.02', '1.2 ', '1.2\0', '1.a', '1,2', `${'1.'.repeat(32)}1`, '\uff11'])
			assert.ok(!isUid(uid), uid);
		for (const title of ['A', 'CT 1', 'ABCDEFGHIJKLMNOP', 'a-b_c.d']) assert.ok(isAeTitle(title), title);
		for (const title of ['', '   ', 'ABCDEFGHIJKLMNOPQ', 'A\\B', 'A\n', 'Ä']) assert.ok(!isAeTitle(title), title);
	});

	test('are what the pattern of the standard says', () => {
		const pattern = /^(0|[1-9]\d*)(\.(0|[1-9]\d*))*$/;
		const text = fc.string({ unit: fc.constantFrom('0', '1', '9', '.', 'a'), maxLength: 70 });
		fc.assert(fc.property(text, (uid) => assert.equal(isUid(uid), uid.length <= 64 && pattern.test(uid))));
	});

	test('name this implementation', () => {
		assert.ok(isUid(implementationClassUid));
		assert.match(implementationVersionName, /^[A-Z0-9_.]{1,16}$/);
	});
});

describe('values', () => {
	test('dates, of the calendar alone', () => {
		assert.deepEqual(['20240229', '19991231', '1993.01.02', ' 20240131 '].map(dateOf), [
			'2024-02-29',
			'1999-12-31',
			'1993-01-02',
			'2024-01-31',
		]);
		for (const wrong of [
			'',
			'2024',
			'202401',
			'20230229',
			'19000229',
			'20241301',
			'20240100',
			'20240431',
			'00000101',
			'2024-01-31',
			'1993.0102',
		]) {
			assert.equal(dateOf(wrong), undefined, wrong);
		}
	});

	test('times, to the second', () => {
		assert.deepEqual(['10', '1020', '102030', '102030.5', '102030.1234567', '10:20:30', '235960'].map(timeOf), [
			'10:00:00',
			'10:20:00',
			'10:20:30',
			'10:20:30',
			'10:20:30',
			'10:20:30',
			'23:59:59',
		]);
		for (const wrong of ['', '24', '1060', '102061', '1', 'noon', '1020.5']) assert.equal(timeOf(wrong), undefined, wrong);
		assert.deepEqual(
			[dateTimeOf('20240131', ''), dateTimeOf('20240131', '1020'), dateTimeOf('', '1020')],
			['2024-01-31', '2024-01-31T10:20:00', undefined],
		);
	});

	test('integers within 32 bits', () => {
		assert.deepEqual(['12', ' -3 ', '+4', '5\\6', '2147483647'].map(integerOf), [12, -3, 4, 5, 2147483647]);
		for (const wrong of ['', '1.5', '1A', '99999999999', '2147483648']) assert.equal(integerOf(wrong), undefined, wrong);
	});

	test('texts without control characters, whatever is sent', () => {
		fc.assert(
			fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\0', '\t', '\x7f', 'ä', '山'), maxLength: 12 }), (text) => {
				const clean = textOf(text);
				// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
				assert.doesNotMatch(clean ?? '', /[\0-\x1f\x7f]|^ | $/);
				assert.equal(clean === undefined, !/[aä山]/.test(text));
			}),
		);
	});

	test('names by group and component', () => {
		assert.deepEqual(personNameOf('Yamada^Tarou=山田^太郎=やまだ^たろう'), {
			alphabetic: ['Yamada', 'Tarou', '', '', ''],
			ideographic: '山田^太郎',
			phonetic: 'やまだ^たろう',
		});
		assert.deepEqual(personNameOf('A ^ B^C^D^E^F')?.alphabetic, ['A', 'B', 'C', 'D', 'E']);
		assert.equal(personNameOf('^^^^==^'), undefined);
		assert.deepEqual([nameTextOf('Doe^Jane^^\\Roe'), nameTextOf('=山田^太郎='), nameTextOf('^=^')], ['Doe^Jane', '=山田^太郎', undefined]);
	});
});

describe('character sets', () => {
	test('the examples of PS3.5 annexes H, I, J and K', () => {
		const esc = '\x1b';
		const h31 = `Yamada^Tarou=${esc}$B;3ED${esc}(B^${esc}$BB@O:${esc}(B=${esc}$B$d$^$@${esc}(B^${esc}$B$?$m$&${esc}(B`;
		assert.equal(decode('\\ISO 2022 IR 87', h31), 'Yamada^Tarou=山田^太郎=やまだ^たろう');
		const h32 = `\xd4\xcf\xc0\xde^\xc0\xdb\xb3=${esc}$B;3ED${esc}(J^${esc}$BB@O:${esc}(J=${esc}$B$d$^$@${esc}(J^${esc}$B$?$m$&${esc}(J`;
		assert.equal(decode('ISO 2022 IR 13\\ISO 2022 IR 87', h32), 'ﾔﾏﾀﾞ^ﾀﾛｳ=山田^太郎=やまだ^たろう');
		const i2 = `Hong^Gildong=${esc}$)C\xfb\xf3^${esc}$)C\xd1\xce\xd4\xd7=${esc}$)C\xc8\xab^${esc}$)C\xb1\xe6\xb5\xbf`;
		assert.equal(decode('\\ISO 2022 IR 149', i2), 'Hong^Gildong=洪^吉洞=홍^길동');
		assert.equal(decode('GB18030', 'Wang^XiaoDong=\xcd\xf5^\xd0\xa1\xb6\xab='), 'Wang^XiaoDong=王^小东=');
		assert.equal(decode('ISO_IR 192', Buffer.from('Wang^XiaoDong=王^小東=', 'utf8').toString('latin1')), 'Wang^XiaoDong=王^小東=');
		assert.equal(decode('\\ISO 2022 IR 58', `Zhang^XiaoDong=${esc}$)A\xd5\xc5^${esc}$)A\xd0\xa1\xb6\xab=`), 'Zhang^XiaoDong=张^小东=');
	});

	test('those of one byte', () => {
		const samples = [
			['ISO_IR 100', '\xe4', 'ä'],
			['ISO_IR 101', '\xb1', 'ą'],
			['ISO_IR 109', '\xa1', 'Ħ'],
			['ISO_IR 110', '\xa1', 'Ą'],
			['ISO_IR 126', '\xc4', 'Δ'],
			['ISO_IR 127', '\xc7', 'ا'],
			['ISO_IR 138', '\xe0', 'א'],
			['ISO_IR 144', '\xbb', 'Л'],
			['ISO_IR 148', '\xfd', 'ı'],
			['ISO_IR 166', '\xa1', 'ก'],
			['ISO_IR 203', '\xa4', '€'],
			['ISO_IR 13', '\xb1~', 'ｱ‾'],
			['GBK', '\xcd\xf5', '王'],
			['iso-ir 100', '\xe4', 'ä'],
		] as const;
		for (const [declared, bytes, text] of samples) assert.equal(decode(declared, bytes), text, declared);
	});

	test('a delimiter brings the first set back, two-byte characters hold none', () => {
		assert.equal(decode('\\ISO 2022 IR 149', '\x1b$)C\xfb\xf3^\xd1\xce'), '洪^\ufffd\ufffd');
		assert.equal(decode('ISO 2022 IR 100\\ISO 2022 IR 144', '\x1b-L\xbb\\\xe4'), 'Л\\ä');
		assert.equal(decode('\\ISO 2022 IR 159', '\x1b$(D0!\x1b(B^x'), '丂^x');
		// The second byte is that of a circumflex.
		assert.equal(decode('\\ISO 2022 IR 87', '\x1b$B$^\x1b(B^x'), 'ま^x');
	});

	test('absent or unknown: UTF-8 where it is, else Windows-1252', () => {
		for (const declared of ['', 'ISO_IR 6', 'ISO_IR 999', 'KLINGON']) {
			assert.equal(decode(declared, 'M\xc3\xbcller'), 'Müller');
			assert.equal(decode(declared, 'M\xfcller'), 'Müller');
		}
	});

	test('any bytes in any set become a text', () => {
		const declared = fc.constantFrom(
			'',
			'ISO_IR 13',
			'ISO 2022 IR 13\\ISO 2022 IR 87',
			'\\ISO 2022 IR 149',
			'GB18030',
			'ISO_IR 192',
			'ISO_IR 159',
			'\\ISO 2022 IR 58',
		);
		const bytes = fc.array(
			fc.oneof(
				fc.constantFrom('\x1b$B', '\x1b$(D', '\x1b$)C', '\x1b(J', '\x1b', '^', '='),
				fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
			),
			{ maxLength: 60 },
		);
		fc.assert(
			fc.property(declared, bytes, (set, parts) => assert.ok(decode(set, parts.join('')).isWellFormed())),
			{ numRuns: runs(2000) },
		);
	});
});

describe('file meta information', () => {
	const meta = { sopClassUid: '1.2.840.10008.5.1.4.1.1.2', sopInstanceUid: '1.2.3', transferSyntaxUid: '1.2.840.10008.1.2.1' };

	test('is read back, with and without a preamble', () => {
		const head = part10Head({ ...meta, sourceAe: 'CT1' });
		const file = Buffer.concat([head, Buffer.from('08000500', 'hex')]);
		assert.deepEqual(readFileMeta(file), { ...meta, dataSetOffset: head.length });
		assert.deepEqual(readFileMeta(file.subarray(128)), { ...meta, dataSetOffset: head.length - 128 });
		assert.deepEqual(readFileMeta(file.subarray(132)), { ...meta, dataSetOffset: head.length - 132 });
		assert.equal(head.readUInt32LE(140), head.length - 144);
	});

	test('may be absent', () => {
		const none = { sopClassUid: undefined, sopInstanceUid: undefined, transferSyntaxUid: undefined, dataSetOffset: 0 };
		assert.deepEqual(readFileMeta(Buffer.from('0800050043530000', 'hex')), none);
		assert.deepEqual(readFileMeta(Buffer.alloc(0)), none);
	});

	test('cut off or damaged is refused or read, never more', () => {
		const head = part10Head(meta);
		for (let length = 141; length < head.length; length++) {
			let found: unknown;
			try {
				found = readFileMeta(head.subarray(0, length)).dataSetOffset;
			} catch (error) {
				assert.ok(error instanceof DataSetError && error.fault.kind === 'truncated');
			}
			assert.ok(found === undefined || (found as number) <= length);
		}
		fc.assert(
			fc.property(fc.nat(head.length - 1), fc.uint8Array({ maxLength: 8 }), (at, bytes) => {
				try {
					assert.ok(readFileMeta(Buffer.concat([head.subarray(0, at), bytes, head.subarray(at)])).dataSetOffset <= head.length + 8);
				} catch (error) {
					assert.ok(error instanceof DataSetError);
				}
			}),
		);
	});
});
