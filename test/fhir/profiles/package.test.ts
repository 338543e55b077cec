import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { filesOfPackage } from '#fhir/profiles/package.ts';
import { readDefinitions } from '#fhir/profiles/read-definitions.ts';
import { fhirPackage, tarEntry } from '#test/support/fhir-package.ts';

const megabyte = 1024 * 1024;
const valueSet = (url: string) => ({ resourceType: 'ValueSet', url, name: 'X', compose: { include: [{ system: 'urn:s' }] } });
const long = `package/ValueSet-${'x'.repeat(120)}.json`;

describe('a FHIR package', () => {
	test('gives its files, also those with long names', () => {
		const files = filesOfPackage(fhirPackage({ 'package/a.json': { a: 1 }, [long]: { b: 2 }, 'package/example/c.json': {} }), megabyte);
		assert.deepEqual(
			files.map(({ name, bytes }) => [name, JSON.parse(Buffer.from(bytes).toString())]),
			[
				['package/package.json', { name: 'example.fhir.profiles', version: '1.0.0' }],
				['package/a.json', { a: 1 }],
				[long, { b: 2 }],
				['package/example/c.json', {}],
			],
		);
	});

	test('is read up to a size, and only if it is whole', () => {
		const bytes = fhirPackage({ 'package/a.json': { text: 'x'.repeat(5000) } });
		assert.throws(() => filesOfPackage(bytes, 4000), /at most 4000 bytes/);
		assert.throws(() => filesOfPackage(bytes.subarray(0, bytes.length - 20), megabyte), /no FHIR package/);
		assert.throws(() => filesOfPackage(gzipSync(Buffer.alloc(2048, 'x')), megabyte), /no FHIR package/);
		assert.throws(() => filesOfPackage(Buffer.from('PK'), megabyte), /no FHIR package/);
	});

	test('is refused at the first record of a pax header that is none', () => {
		const withPax = (records: string) => gzipSync(Buffer.concat([tarEntry('PaxHeaders/a', 'x', Buffer.from(records)), Buffer.alloc(1024)]));
		for (const records of [
			'1 '.repeat(1000),
			'0 path=x\n',
			'path=x\n',
			'11 path=x\n',
			'9 path=xy\n',
			'9 path x\n',
			'7 =abc\n',
			`${'9'.repeat(400)} path=x\n`,
			'5 a=\n'.repeat(20_000),
		]) {
			const refused = { name: 'Failure', code: 'invalid', message: /the pax header 'PaxHeaders\/a' is malformed/ };
			assert.throws(() => filesOfPackage(withPax(records), megabyte), refused, records.slice(0, 20));
		}
		assert.deepEqual(filesOfPackage(withPax('20 mtime=1700000000\n5 a=\n10 path=x\n'), megabyte), []);
	});

	test('brings its definitions, and names those that cannot be used', () => {
		const logical = { resourceType: 'StructureDefinition', url: 'urn:l', name: 'L', type: 'L', derivation: 'specialization' };
		const read = readDefinitions(
			fhirPackage({
				'package/ValueSet-a.json': valueSet('urn:a'),
				'package/StructureDefinition-l.json': logical,
				'package/SearchParameter-x.json': { resourceType: 'SearchParameter' },
				'package/example/ValueSet-b.json': valueSet('urn:b'),
			}),
			megabyte,
		);
		assert.deepEqual(read.package, { name: 'example.fhir.profiles', version: '1.0.0' });
		assert.deepEqual(
			read.definitions.map(({ url }) => url),
			['urn:a'],
		);
		assert.deepEqual(
			read.passedOver.map(({ file }) => file),
			['StructureDefinition-l.json'],
		);
	});

	test('may also be one definition in JSON', () => {
		const one = readDefinitions(Buffer.from(JSON.stringify(valueSet('urn:a'))), megabyte);
		assert.deepEqual([one.package, one.definitions.length], [undefined, 1]);
		assert.throws(
			() => readDefinitions(Buffer.from('{"resourceType":"Patient"}'), megabyte),
			/StructureDefinition, ValueSet or CodeSystem/,
		);
	});
});
