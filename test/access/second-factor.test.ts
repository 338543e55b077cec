import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SecretBox } from '#access/second-factor/secret-box.ts';
import { base32, codeAt, otpauthUri, stepAt, stepOf } from '#access/second-factor/totp.ts';
import { isSecretKey } from '#core/secret-key.ts';

describe('codes of the time', () => {
	const secret = Buffer.from('12345678901234567890');

	/** RFC 6238, Appendix B, the last six digits of the rows with SHA-1. */
	for (const [seconds, code] of [
		[59, '287082'],
		[1111111109, '081804'],
		[1111111111, '050471'],
		[1234567890, '005924'],
		[2000000000, '279037'],
		[20000000000, '353130'],
	] as const)
		test(`are those of RFC 6238 at ${seconds} s`, () => assert.equal(codeAt(secret, stepAt(seconds * 1000)), code));

	test('count one step before and after the present one, and not further', () => {
		const nowMs = 1_234_567_890_000;
		const now = stepAt(nowMs);
		for (const step of [now - 1, now, now + 1]) assert.equal(stepOf(codeAt(secret, step), secret, nowMs), step);
		for (const step of [now - 2, now + 2]) assert.equal(stepOf(codeAt(secret, step), secret, nowMs), undefined);
		for (const wrong of ['', '12345', '1234567', '......']) assert.equal(stepOf(wrong, secret, nowMs), undefined);
	});

	test('a secret is written in base32 (RFC 4648 §10), and in the address of a QR code', () => {
		const texts = { '': '', f: 'MY', fo: 'MZXQ', foo: 'MZXW6', foob: 'MZXW6YQ', fooba: 'MZXW6YTB', foobar: 'MZXW6YTBOI' };
		for (const [text, expected] of Object.entries(texts)) assert.equal(base32(Buffer.from(text)), expected);
		assert.equal(
			otpauthUri(Buffer.from('foobar'), 'ann+x@example.org', 'A B'),
			'otpauth://totp/A%20B:ann%2Bx%40example.org?secret=MZXW6YTBOI&issuer=A%20B',
		);
	});
});

describe('sealed secrets', () => {
	const folder = () => mkdtempSync(join(tmpdir(), 'tributary-box-'));

	test('are opened for whom they were sealed, by the same key, as they were', () => {
		const dataDir = folder();
		try {
			const box = new SecretBox({ key: undefined, dataDir });
			const sealed = box.seal(Buffer.from('secret'), 'ann');
			assert.ok(!sealed.includes('secret'));
			assert.equal(statSync(join(dataDir, 'second-factor.key')).mode & 0o777, 0o600);
			assert.equal(new SecretBox({ key: undefined, dataDir }).open(sealed, 'ann').toString(), 'secret');
			assert.throws(() => box.open(sealed, 'bob'), /damaged/);
			const changed = Buffer.from(sealed);
			changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1;
			assert.throws(() => box.open(changed, 'ann'), /damaged/);
			const other = new SecretBox({ key: Buffer.alloc(32, 7).toString('base64'), dataDir });
			assert.throws(() => other.open(sealed, 'ann'), /another SECOND_FACTOR_KEY/);
		} finally {
			rmSync(dataDir, { recursive: true });
		}
	});

	test('a key that others may read is not taken', () => {
		const dataDir = folder();
		try {
			new SecretBox({ key: undefined, dataDir }).seal(Buffer.from('x'), 'ann');
			chmodSync(join(dataDir, 'second-factor.key'), 0o644);
			assert.throws(() => new SecretBox({ key: undefined, dataDir }).seal(Buffer.from('x'), 'ann'), /mode has to be 0600/);
		} finally {
			rmSync(dataDir, { recursive: true });
		}
	});

	test('a key has 32 bytes in base64', () => {
		assert.ok(isSecretKey(Buffer.alloc(32).toString('base64')));
		for (const wrong of ['', 'short', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), '!'.repeat(43)])
			assert.ok(!isSecretKey(wrong), wrong);
	});
});
