import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { oneTimePassword, Passwords, passwordFault } from '#access/password.ts';

const passwords = new Passwords();

describe('a hash', () => {
	test('matches its password and no other, and is another each time', async () => {
		const [hash, again] = await Promise.all([passwords.hash('seven quiet herons'), passwords.hash('seven quiet herons')]);
		assert.notEqual(hash, again);
		assert.match(hash, /^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
		assert.equal(await passwords.matches('seven quiet herons', hash), true);
		assert.equal(await passwords.matches('seven quiet heron', hash), false);
		assert.equal(await passwords.matches('', hash), false);
	});

	test('matches characters that look the same', async () => {
		const hash = await passwords.hash('caf\u00e9 au lait noir');
		assert.equal(await passwords.matches('cafe\u0301 au lait noir', hash), true);
	});

	test('that is none matches nothing', async () => {
		for (const hash of [null, '', 'seven quiet herons', 'scrypt$1$1$1$a$b']) {
			assert.equal(await passwords.matches('seven quiet herons', hash), false);
		}
	});
});

test('a one-time password is long, of characters that can be typed, and another each time', () => {
	const all = Array.from({ length: 100 }, oneTimePassword);
	assert.equal(new Set(all).size, 100);
	for (const one of all) assert.match(one, /^[\w-]{20}$/);
});

describe('a password that a person chooses', () => {
	const cases: [string, RegExp | undefined][] = [
		['seven quiet herons', undefined],
		['änderung über öl', undefined],
		['short', /at least 12/],
		['x'.repeat(257), /at most 256/],
		['abababababab', /5 different/],
		['Ada@Example.org', /e-mail/],
		['ada', /at least 12/],
		['PASSWORD1234', /too common/],
		['correcthorsebatterystaple', /too common/],
		// Full-width letters are the same letters.
		['ｐａｓｓｗｏｒｄ１２３４', /too common/],
	];
	for (const [password, fault] of cases) {
		test(`${password.slice(0, 30)}: ${fault === undefined ? 'will do' : fault.source}`, () => {
			const found = passwordFault(password, 'ada@example.org');
			if (fault === undefined) assert.equal(found, undefined);
			else assert.match(found ?? '', fault);
		});
	}

	test('is not the part of the address before the @ either', () => {
		assert.match(passwordFault('grace.hopman.navy', 'Grace.Hopman.Navy@example.org') ?? '', /e-mail/);
	});
});
