import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { databaseNameOf, faultOfDatabaseUrl, passwordsOf, readDatabaseUrl, withoutPassword } from '#core/database-url.ts';
import { readConfig } from '../../src/config.ts';

describe('a database URL', () => {
	for (const [url, hosts, wanted] of [
		['postgres://u:p@db/tributary', ['db:5432'], undefined],
		['postgresql://u@a:5432,b:5433/db?target_session_attrs=read-write', ['a:5432', 'b:5433'], 'read-write'],
		['postgres://u:p@[::1]:5432,[fe80::2],c/db', ['::1:5432', 'fe80::2:5432', 'c:5432'], undefined],
		['postgres://u@/db?host=a,b&port=5432,5433', ['a:5432', 'b:5433'], undefined],
		['postgres:///db?host=/run/a,/run/b&port=6432', ['/run/a:6432', '/run/b:6432'], undefined],
		['postgresql://tributary@localhost/tributary?host=%2Ftmp%2Fsocket', ['/tmp/socket:5432'], undefined],
	] as const) {
		test(`names its servers: ${url}`, () => {
			const read = readDatabaseUrl(url);
			assert.deepEqual([read.hosts.map(({ host, port }) => `${host}:${port}`), read.wanted], [hosts, wanted]);
		});
	}

	for (const [url, fault] of [
		['mysql://a/db', 'is a URL that begins with postgres:// or postgresql://'],
		['postgres://u:secret@a,,b/db', 'has an empty name among its hosts'],
		['postgres://u:secret@a:x,b/db', 'is no URL'],
		['postgres://u:secret@a,b/db?target_session_attrs=primry', /^target_session_attrs is one of any, read-write/],
		['postgres://u:secret@a,b/db?pooling=none', 'pooling is one of session, transaction, unprepared'],
		['postgres://u:secret@a/db?sslmode=prefer', 'sslmode is one of disable, require, verify-ca, verify-full'],
		['postgres://u:secret@a/db?sslrootcert=/ca.pem', 'sslrootcert, sslcert, sslkey and sslnegotiation need sslmode beside them'],
		['postgres://u:secret@a/db?sslmode=verify-full&sslrootcert=ca.pem', 'sslrootcert is the absolute path of a PEM file'],
		['postgres://u:secret@a/db?sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert, the path of the authorities that are trusted'],
		['postgres://u:secret@a/db?sslmode=require&sslcert=/c.pem', 'sslcert and sslkey are given together'],
		['postgres://u:secret@a/db?sslmode=require&sslnegotiation=later', 'sslnegotiation is one of postgres, direct'],
		['postgres:///db?host=a,b,c&port=1,2', 'has one port for all hosts, or one for each'],
	] as const) {
		test(`that is wrong is refused without being quoted: ${url}`, () => {
			const found = faultOfDatabaseUrl(url) ?? '';
			if (typeof fault === 'string') assert.equal(found, fault);
			else assert.match(found, fault);
			assert.doesNotMatch(found, /secret/);
		});
	}

	test('says how its connections come to the server', () => {
		const poolings = ['', '?pooling=transaction', '?sslmode=require&pooling=unprepared'].map(
			(parameters) => readDatabaseUrl(`postgres://u@a:5432,b:5433/db${parameters}`).pooling,
		);
		assert.deepEqual(poolings, ['session', 'transaction', 'unprepared']);
	});

	test('says how its connections are encrypted, which the driver is not told by the URL', () => {
		const of = (parameters: string) => readDatabaseUrl(`postgres://u@a,b/db?sslmode=${parameters}&pooling=transaction`);
		const none = { rootCert: undefined, own: undefined, isDirect: false };
		assert.equal(readDatabaseUrl('postgres://u@a/db').tls, undefined);
		assert.equal(of('disable').tls, false);
		assert.deepEqual(of('require').tls, { mode: 'require', ...none });
		assert.deepEqual(of('verify-full&sslrootcert=/ca.pem').tls, { ...none, mode: 'verify-full', rootCert: '/ca.pem' });
		assert.deepEqual(of('require&sslrootcert=system').tls, { mode: 'verify-full', ...none });
		const all = of('verify-ca&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem&sslnegotiation=direct');
		assert.deepEqual(all.tls, { mode: 'verify-ca', rootCert: '/ca.pem', own: { cert: '/c.pem', key: '/k.pem' }, isDirect: true });
		assert.equal(all.first.href, 'postgres://u@a/db?pooling=transaction');
	});

	test('keeps its servers when its password is taken out', () => {
		const url = 'postgres://u:p%40ss@a:5432,b:5433/db?password=other&sslmode=require';
		assert.deepEqual(passwordsOf(url), ['p%40ss', 'other', 'p@ss']);
		assert.equal(withoutPassword(url), 'postgres://u@a:5432,b:5433/db?sslmode=require');
		assert.equal(databaseNameOf(url), 'db');
	});

	test('of DATABASE_URL names a server that takes writes, that of DATABASE_READ_URL any', () => {
		const of = (attributes: string) => `postgres://u@a,b/db?target_session_attrs=${attributes}`;
		assert.throws(
			() => readConfig({ DATABASE_URL: of('standby') }),
			/^ConfigurationError: DATABASE_URL: target_session_attrs is one of any, read-write, primary here$/,
		);
		const { DATABASE_URL: url, DATABASE_READ_URL: reads } = readConfig({
			DATABASE_URL: of('read-write'),
			DATABASE_READ_URL: of('prefer-standby'),
		});
		assert.deepEqual([url, reads], [of('read-write'), of('prefer-standby')]);
	});
});
