import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { proxySignature, readProxyHeader } from '#surfaces/tcp/proxy-header.ts';
import { fc } from '#test/support/fuzzing.ts';
import { proxyVersion2 } from '../mllp/support.ts';

const line = (text: string) => readProxyHeader(Buffer.from(text, 'latin1'));

describe('PROXY protocol', () => {
	test('a version 1 line names the sender', () => {
		assert.deepEqual(line('PROXY TCP4 192.0.2.7 198.51.100.1 56324 3000\r\nrest'), { kind: 'header', address: '192.0.2.7', length: 46 });
		assert.deepEqual(line('PROXY TCP6 2001:db8::7 2001:db8::1 56324 3000\r\n'), { kind: 'header', address: '2001:db8::7', length: 47 });
	});

	test('a proxy that speaks for itself names nobody', () => {
		assert.deepEqual(line('PROXY UNKNOWN\r\n'), { kind: 'header', address: undefined, length: 15 });
		assert.deepEqual(readProxyHeader(proxyVersion2(undefined)), { kind: 'header', address: undefined, length: 16 });
	});

	test('version 1 lines that are wrong are none', () => {
		for (const text of [
			'PROXY TCP4 192.0.2.7 198.51.100.1 56324\r\n',
			'PROXY TCP4 192.0.2.700 198.51.100.1 1 2\r\n',
			'PROXY TCP4 2001:db8::7 2001:db8::1 1 2\r\n',
			'PROXY UDP4 192.0.2.7 198.51.100.1 1 2\r\n',
			'PROXY TCP4 192.0.2.7 198.51.100.1 1 2 3\r\n',
			`PROXY ${'x'.repeat(110)}`,
			'GET / HTTP/1.1\r\n',
		]) {
			assert.deepEqual(line(text), { kind: 'none' }, text);
		}
	});

	test('version 2 carries IPv4 and IPv6, extension fields included in its length', () => {
		assert.deepEqual(readProxyHeader(proxyVersion2('192.0.2.7')), { kind: 'header', address: '192.0.2.7', length: 28 });
		assert.deepEqual(readProxyHeader(proxyVersion2('2001:db8::7')), { kind: 'header', address: '2001:db8::7', length: 52 });
		assert.deepEqual(readProxyHeader(proxyVersion2('192.0.2.7', Buffer.from([4, 0, 1, 0]))), {
			kind: 'header',
			address: '192.0.2.7',
			length: 32,
		});
	});

	test('a version 2 header that announces too much, another version or another family is none', () => {
		const header = proxyVersion2('192.0.2.7');
		const changed = (at: number, value: number) => Buffer.from(header).fill(value, at, at + 1);
		for (const bytes of [changed(12, 0x11), changed(12, 0x22), changed(13, 0x12), changed(13, 0x31), changed(14, 0xff)]) {
			assert.deepEqual(readProxyHeader(bytes), { kind: 'none' });
		}
	});

	test('every proper beginning of a header is incomplete', () => {
		for (const header of [Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 56324 3000\r\n', 'latin1'), proxyVersion2('2001:db8::7')]) {
			for (let length = 0; length < header.length; length++) {
				assert.deepEqual(readProxyHeader(header.subarray(0, length)), { kind: 'incomplete' }, `${length} bytes`);
			}
		}
	});

	test('an MLLP start of block is no signature', () => {
		assert.equal(proxySignature(Buffer.from('\x0bMSH')), 'no');
		assert.equal(proxySignature(Buffer.from('\r\n\x0bMSH')), 'no');
		assert.equal(proxySignature(Buffer.from('\r\n')), 'maybe');
		assert.equal(proxySignature(Buffer.from('PROXY T')), 'yes');
	});

	test('arbitrary bytes never throw and never name more than was sent', () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 80 }), fc.constantFrom('', 'PROXY ', '\r\n\r\n\0\r\nQUIT\n'), (tail, start) => {
				const bytes = Buffer.concat([Buffer.from(start, 'latin1'), tail]);
				const header = readProxyHeader(bytes);
				assert.ok(header.kind !== 'header' || header.length <= bytes.length);
			}),
		);
	});
});
