import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addressSet, normaliseAddress, parseAddress, parseRange, rangeContains } from '#core/address.ts';
import { fc } from '#test/support/fuzzing.ts';

function contains(range: string, address: string): boolean {
	const parsed = parseRange(range) ?? assert.fail(`${range} is no range`);
	const bytes = parseAddress(address) ?? assert.fail(`${address} is no address`);
	return rangeContains(parsed, bytes);
}

describe('an address', () => {
	const same: [string, string][] = [
		['::ffff:10.0.0.1', '10.0.0.1'],
		['::FFFF:0a00:0001', '10.0.0.1'],
		['2001:db8::1', '2001:0DB8:0:0:0:0:0:1'],
		['fe80::1%eth0', 'fe80::1'],
	];
	for (const [left, right] of same) {
		test(`${left} is ${right}`, () => assert.deepEqual(parseAddress(left) ?? assert.fail(), parseAddress(right)));
	}

	const refused = [
		'',
		'10',
		'10.1',
		'10.0.1',
		'010.0.0.1',
		'0x0a.0.0.1',
		'10.0.0.256',
		'10.0.0.1.2',
		'10.0.0.1/32',
		' 10.0.0.1',
		'1::2::3',
		'west',
		'*',
	];
	for (const text of refused) {
		test(`'${text}' is none`, () => assert.equal(parseAddress(text), undefined));
	}

	test('a mapped one is normalised to IPv4, what is none stays', () => {
		assert.equal(normaliseAddress('::ffff:192.0.2.7'), '192.0.2.7');
		assert.equal(normaliseAddress('2001:DB8:0::1'), '2001:db8::1');
		assert.equal(normaliseAddress('west'), 'west');
	});
});

describe('a range', () => {
	const cases: [range: string, address: string, within: boolean][] = [
		['10.0.0.1', '10.0.0.1', true],
		['10.0.0.1', '10.0.0.2', false],
		['10.0.0.1', '::ffff:10.0.0.1', true],
		['::ffff:10.0.0.1', '10.0.0.1', true],
		['10.1.0.0/16', '10.1.255.255', true],
		['10.1.0.0/16', '10.2.0.0', false],
		['10.1.2.3/16', '10.1.9.9', true],
		['192.0.2.128/25', '192.0.2.127', false],
		['192.0.2.128/25', '192.0.2.128', true],
		['192.0.2.8/30', '192.0.2.11', true],
		['192.0.2.8/30', '192.0.2.12', false],
		['0.0.0.0/0', '203.0.113.9', true],
		['0.0.0.0/0', '2001:db8::1', false],
		['::/0', '203.0.113.9', false],
		['::ffff:10.1.0.0/112', '10.1.2.3', true],
		['::ffff:10.1.0.0/112', '10.2.2.3', false],
		['2001:db8::/32', '2001:db8:ffff::1', true],
		['2001:db8::/32', '2001:db9::1', false],
		['2001:db8::/33', '2001:db8:8000::', false],
		['fe80::1', 'fe80::1%eth0', true],
		['*', '203.0.113.9', true],
		['*', '2001:db8::1', true],
	];
	for (const [range, address, within] of cases) {
		test(`${range} ${within ? 'holds' : 'does not hold'} ${address}`, () => assert.equal(contains(range, address), within));
	}

	const refused = [
		'',
		'**',
		'10.0.0.0/33',
		'10.0.0.0/-1',
		'10.0.0.0/',
		'10.0.0.0/8/8',
		'10.0.0.0/0x8',
		'10/8',
		'010.0.0.0/8',
		'::/129',
		'::ffff:10.0.0.0/95',
	];
	for (const text of refused) {
		test(`'${text}' is none`, () => assert.equal(parseRange(text), undefined));
	}

	test('knows how specific it is: a mapped prefix counts as that of IPv4', () => {
		const bits = ['10.0.0.1', '10.0.0.0/8', '::ffff:10.0.0.0/104', '2001:db8::/32', '*'].map((text) => parseRange(text)?.prefixBits);
		assert.deepEqual(bits, [32, 8, 8, 32, 0]);
	});

	test('holds an IPv4 address exactly when the bits of its prefix are those of the address', () => {
		const number = fc.integer({ min: 0, max: 0xffff_ffff });
		const dotted = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
		fc.assert(
			fc.property(number, fc.integer({ min: 0, max: 32 }), fc.integer({ min: 0, max: 32 }), number, (base, bits, shared, other) => {
				// Shares the first `shared` bits with the base, so that neighbours of the edge are met.
				const mask = shared === 0 ? 0 : (0xffff_ffff << (32 - shared)) >>> 0;
				const address = ((base & mask) | (other & ~mask)) >>> 0;
				const expected = bits === 0 || base >>> (32 - bits) === address >>> (32 - bits);
				assert.equal(contains(`${dotted(base)}/${bits}`, dotted(address)), expected);
			}),
		);
	});
});

describe('a list of trusted addresses', () => {
	const trusted = addressSet(['10.0.0.0/8', '2001:db8::7'].map((text) => parseRange(text) ?? assert.fail()));

	test('holds what any of its ranges holds, and nothing that is no address', () => {
		assert.deepEqual(
			['10.9.9.9', '::ffff:10.9.9.9', '2001:db8::7', '11.0.0.1', '2001:db8::8', '', 'west'].map((address) => trusted(address)),
			[true, true, true, false, false, false, false],
		);
	});

	test('is empty without ranges', () => assert.equal(addressSet([])('10.0.0.1'), false));
});
