import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createApiKey, digestSecret, parseApiKey, secretMatches } from '#access/api-key.ts';

describe('an API key', () => {
	test('is its public id and its secret, and is read back into them', () => {
		const { key, id, secret } = createApiKey();
		assert.equal(key, `trb_${id}_${secret}`);
		assert.deepEqual(parseApiKey(key), { id, secret });
	});

	test('is a new one each time', () => {
		const keys = Array.from({ length: 100 }, () => createApiKey());
		assert.equal(new Set(keys.map(({ id }) => id)).size, 100);
		assert.equal(new Set(keys.map(({ secret }) => secret)).size, 100);
	});

	const { key, secret } = createApiKey();
	const malformed: [string, string | undefined][] = [
		['no header', undefined],
		['an empty header', ''],
		['a key of another product', key.replace('trb_', 'xyz_')],
		['a key in upper case', key.toUpperCase()],
		['a key that was cut', key.slice(0, -1)],
		['a key with something behind it', `${key}x`],
		['a key with a line break behind it', `${key}\n`],
		['a secret alone', secret],
		['two keys', `${key}, ${key}`],
	];
	for (const [name, header] of malformed) {
		test(`${name} is none`, () => assert.equal(parseApiKey(header), undefined));
	}

	test('matches the digest of its own secret alone', () => {
		assert.equal(secretMatches(secret, digestSecret(secret)), true);
		assert.equal(secretMatches(createApiKey().secret, digestSecret(secret)), false);
		assert.equal(secretMatches('', digestSecret(secret)), false);
	});

	test('that does not exist matches nothing, not even a digest of zeros', () => {
		assert.equal(secretMatches(secret, undefined), false);
	});

	test('is kept as SHA-256, not as itself', () => {
		assert.equal(digestSecret('abc').toString('hex'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
	});
});
