import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { receive } from '#hl7v3/interpret.ts';
import { readXml } from '#hl7v3/read.ts';
import { defaultLimits } from '../../src/limits.ts';

const read = (text: string) => readXml(Buffer.from(text), defaultLimits);
const refusal = (body: string | Uint8Array, limits = defaultLimits): Failure => {
	try {
		readXml(typeof body === 'string' ? Buffer.from(body) : body, limits);
	} catch (error) {
		if (error instanceof Failure) return error;
		throw error;
	}
	return assert.fail('nothing was refused');
};

describe('reading XML', () => {
	test('elements, attributes, text and where they stand', () => {
		const root = read(`
			<?xml version="1.0"?><!-- a --><h:a xmlns:h="urn:hl7-org:v3" x="1&#10;2"><h:b>one<![CDATA[ & ]]>two</h:b><o:b xmlns:o="urn:o"/>
			<h:b xmlns:h="urn:hl7-org:v3">&lt;&amp;&gt;&quot;&apos;&#x41;</h:b></h:a>`);
		assert.equal(root.attribute('x'), '1\n2');
		assert.deepEqual(
			root.children('b').map(({ text }) => text),
			['one & two', `<&>"'A`],
		);
		assert.equal(root.children().at(1)?.path, '/a/b[2]');
		assert.equal(root.first('b')?.path, '/a/b[1]');
	});

	test('a prefix and a default namespace hold where they are declared', () => {
		const root = read('<a xmlns="urn:hl7-org:v3"><b xmlns="urn:o"><c xmlns="urn:hl7-org:v3"/></b><d xmlns=""/><e/></a>');
		assert.deepEqual(
			root.children().map(({ name }) => name),
			['e'],
		);
		assert.equal(refusal('<p:a/>').code, 'not-hl7');
	});

	test('what is not well-formed is refused with the rule and the place, and without the words of the sender', () => {
		for (const body of [
			'',
			'   ',
			'plain',
			'<a>',
			'<a></b>',
			'<a b="1" b="2"/>',
			'<a b=1/>',
			'<a/><b/>',
			'<a>&secret;</a>',
			'<a>&constructor;</a>',
			'<a>&#0;</a>',
			'<a secret="<"/>',
			'<a>\u0001</a>',
			'<?xml version="1.0" encoding="EBCDIC"?><a/>',
		]) {
			const failure = refusal(body);
			assert.equal(failure.code, 'not-hl7', body);
			assert.doesNotMatch(failure.message, /secret/, body);
		}
	});

	test('XML 1.1 is refused', () => {
		assert.throws(() => read('<?xml version="1.1"?><a>&#1;</a>'), /another version than 1\.0/);
		assert.equal(read('<?xml version="1.0"?><a>1</a>').name, 'a');
	});

	test('a document type declaration is refused, whatever it declares', () => {
		const laughs = `<!DOCTYPE a [<!ENTITY l "ha">${'<!ENTITY m "&l;&l;">'.repeat(10)}]><a>&m;</a>`;
		for (const body of ['<!DOCTYPE a><a/>', laughs, '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', `<!DOCTYPE a [${' '.repeat(1e6)}`]) {
			assert.equal(refusal(body).code, 'not-hl7');
		}
		assert.match(refusal(laughs).message, /document type declaration is not allowed/);
	});

	test('depth, attributes and elements have limits, and what is beyond is not read to its end', () => {
		const deep = (depth: number, prefix = '') =>
			`<a xmlns="urn:hl7-org:v3" xmlns:p="urn:p">${`<${prefix}b>`.repeat(depth)}${`</${prefix}b>`.repeat(depth)}</a>`;
		assert.ok(read(deep(defaultLimits.xmlDepthMax - 1)));
		assert.match(refusal(deep(defaultLimits.xmlDepthMax)).message, /more than 200 elements are inside one another/);
		assert.equal(refusal(`<p:a xmlns:p="urn:p">${'<p:b>'.repeat(3_000_000)}`).code, 'invalid');
		const attributes = (count: number) => `<a ${Array.from({ length: count }, (_, index) => `a${index}="1"`).join(' ')}/>`;
		assert.ok(read(attributes(defaultLimits.xmlAttributesMax)));
		assert.match(refusal(attributes(1_000_000)).message, /more than 100 attributes/);
		const declarations = `<a ${Array.from({ length: 500 }, (_, index) => `xmlns:a${index}="urn:${index}"`).join(' ')}/>`;
		assert.equal(refusal(declarations).code, 'invalid');
		assert.match(refusal(`<a>${'<b/>'.repeat(5_000_000)}</a>`).message, /more than 250000 elements/);
	});

	test('large bodies of one part each are read or refused, none of them slowly', () => {
		const size = 8_000_000;
		const bodies: [string, boolean][] = [
			[`<a>${'x'.repeat(size)}</a>`, true],
			[`<a b="${'x'.repeat(size)}"/>`, true],
			[`<a><!--${'x'.repeat(size)}--></a>`, true],
			[`<a>${'&lt;'.repeat(size / 4)}</a>`, true],
			[`<a>${'&#x41;'.repeat(size / 6)}</a>`, true],
			[`<a>&${'x'.repeat(size)};</a>`, false],
			[`<${'a'.repeat(size)}`, false],
			[`<a ${'b'.repeat(size)}`, false],
			[`<a><?p ${'x'.repeat(size)}`, false],
			['<'.repeat(size), false],
			[`<a>${'<![CDATA[x]]>'.repeat(size / 13)}</a>`, true],
		];
		for (const [body, isRead] of bodies) {
			if (isRead) assert.ok(read(body));
			else assert.equal(refusal(body).code, 'not-hl7');
		}
	});

	test('whatever the bytes are, receiving them does not throw', () => {
		for (let byte = 0; byte < 256; byte++) {
			for (const body of [
				Buffer.from([byte]),
				Buffer.from([0x3c, byte]),
				Buffer.from([byte, 0x3c, byte, 0]),
				Buffer.from([0xff, 0xfe, byte]),
			]) {
				assert.ok(receive(body, defaultLimits).failure instanceof Failure);
			}
		}
	});
});
