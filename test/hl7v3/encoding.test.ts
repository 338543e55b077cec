import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { decodeXml, isSupportedEncoding, selfContained } from '#hl7v3/encoding.ts';

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
const mark = (...bytes: number[]) => Buffer.from(bytes);

describe('an XML document is decoded', () => {
	const cases: [string, Buffer, string][] = [
		['as UTF-8, if nothing says otherwise', Buffer.from('<a>é</a>'), '<a>é</a>'],
		['without its byte order mark', Buffer.concat([mark(0xef, 0xbb, 0xbf), Buffer.from('<a/>')]), '<a/>'],
		['by the mark of UTF-16, little endian', Buffer.concat([mark(0xff, 0xfe), Buffer.from('<a>é</a>', 'utf16le')]), '<a>é</a>'],
		['by the mark of UTF-16, big endian', Buffer.concat([mark(0xfe, 0xff), utf16be('<a>é</a>')]), '<a>é</a>'],
		['by its first characters, little endian', Buffer.from('<a>é</a>', 'utf16le'), '<a>é</a>'],
		['by its first characters, big endian', utf16be('<a>é</a>'), '<a>é</a>'],
		[
			'by its declaration',
			Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'latin1'),
			'<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>',
		],
		[
			'as UTF-8 where it calls itself UTF-16 in single bytes',
			Buffer.from("<?xml version='1.0' encoding='utf-16'?><a>é</a>"),
			"<?xml version='1.0' encoding='utf-16'?><a>é</a>",
		],
	];
	for (const [name, bytes, text] of cases) test(name, () => assert.equal(decodeXml(bytes), text));

	const refused: [string, Buffer][] = [
		['an encoding that is not supported', Buffer.from('<?xml version="1.0" encoding="EBCDIC-CP-US"?><a/>')],
		['bytes that are not UTF-8', Buffer.from('<a>é</a>', 'latin1')],
		['half a UTF-16 character', Buffer.concat([mark(0xff, 0xfe), Buffer.from('<a/>', 'utf16le'), mark(0x20)])],
	];
	for (const [name, bytes] of refused) {
		test(`not from ${name}`, () => {
			assert.throws(
				() => decodeXml(bytes),
				(error) => error instanceof Failure && error.code === 'not-hl7',
			);
		});
	}
});

test('the encodings that are taken are known by name, in any case', () => {
	for (const name of ['UTF-8', 'utf-16LE', 'iso-8859-15', 'windows-1252', 'US-ASCII']) assert.ok(isSupportedEncoding(name), name);
	for (const name of ['', 'utf8', 'utf-32', 'iso-8859-12', 'shift_jis', 'windows-1259'])
		assert.equal(isSupportedEncoding(name), false, name);
});

describe('a document that only Content-Type names the encoding of', () => {
	const latin1 = Buffer.from('<a>é</a>', 'latin1');
	const kept = (bytes: Uint8Array, charset: string | undefined) => Buffer.from(selfContained(bytes, charset));

	test('is kept in UTF-8', () => {
		assert.equal(kept(latin1, 'ISO-8859-1').toString(), '<a>é</a>');
		assert.equal(kept(utf16be('é'), 'utf-16').toString(), 'é');
	});

	test('is kept as it is where it says so itself, or where the name is none', () => {
		const declared = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>', 'latin1');
		assert.deepEqual(kept(declared, 'windows-1252'), declared);
		for (const charset of [undefined, 'utf-8', 'klingon']) assert.deepEqual(kept(latin1, charset), latin1);
	});

	test('is kept as it is where its bytes are not of that encoding', () => {
		const odd = mark(0x80, 0x81, 0xff);
		assert.deepEqual(kept(odd, 'us-ascii').length > 0, true);
		assert.deepEqual(kept(mark(0x00), 'utf-16le'), mark(0x00));
	});
});
