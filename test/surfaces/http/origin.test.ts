import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Origins } from '#surfaces/http/origin.ts';
import { readConfig } from '../../../src/config.ts';

const loopback = { host: '127.0.0.1', port: 8080, tls: false };
const asked = (host: string | undefined, secure = false) => ({ host, secure });

describe('the origin of absolute links', () => {
	const rows: [what: string, url: string | undefined, hosts: string[], host: string | undefined, secure: boolean, expected: string][] = [
		['is the listening address', undefined, [], '127.0.0.1:8080', false, 'http://127.0.0.1:8080'],
		['is never what a Host header claims', undefined, [], 'evil.example', false, 'http://127.0.0.1:8080'],
		['nor another name of the machine that nobody listed', undefined, [], 'localhost:8080', true, 'http://127.0.0.1:8080'],
		['is a listed host, with its port', undefined, ['fhir.example.org'], 'fhir.example.org:8443', true, 'https://fhir.example.org:8443'],
		['is a listed host in any case', undefined, ['FHIR.example.org'], 'fhir.EXAMPLE.org', false, 'http://fhir.example.org'],
		['is a listed host with that port only', undefined, ['a.example:1'], 'a.example:2', false, 'http://127.0.0.1:8080'],
		['is a listed address', undefined, ['[2001:db8::1]'], '[2001:db8::1]:8080', false, 'http://[2001:db8::1]:8080'],
		['is no host that only begins like a listed one', undefined, ['a.example'], 'a.example.evil', false, 'http://127.0.0.1:8080'],
		['is no host with more in it', undefined, ['a.example'], 'a.example/evil', false, 'http://127.0.0.1:8080'],
		['is PUBLIC_URL', 'https://fhir.example.org/north', [], 'evil.example', false, 'https://fhir.example.org/north'],
		['is a listed host before PUBLIC_URL', 'https://fhir.example.org', ['inside'], 'inside:8080', false, 'http://inside:8080'],
		['is there without a Host header', 'https://fhir.example.org', ['inside'], undefined, false, 'https://fhir.example.org'],
	];
	for (const [what, url, hosts, host, secure, expected] of rows) {
		test(what, () => assert.equal(new Origins({ url, hosts }, loopback).of(asked(host, secure)), expected));
	}

	test('is an own address that was asked for where the server listens on all of them', () => {
		const origins = new Origins({ hosts: [] }, { host: '0.0.0.0', port: 8080, tls: true });
		assert.equal(origins.of(asked('127.0.0.1:8080')), 'https://127.0.0.1:8080');
		const fallback = origins.of(asked('evil.example:8080'));
		assert.match(fallback, /^https:\/\/\d+\.\d+\.\d+\.\d+:8080$/);
		assert.notEqual(fallback, 'https://0.0.0.0:8080');
		assert.equal(origins.of(asked('127.0.0.1:9')), fallback);
	});

	test('is configured by URLs and host names only', () => {
		const config = readConfig({ PUBLIC_URL: 'https://fhir.example.org/north//', PUBLIC_HOSTS: 'a.example, b.example:8443,[::1]' });
		assert.equal(config.PUBLIC_URL, 'https://fhir.example.org/north');
		assert.deepEqual(config.PUBLIC_HOSTS, ['a.example', 'b.example:8443', '[::1]']);
		for (const PUBLIC_URL of ['fhir.example.org', 'ftp://a.example', 'https://a.example/?x', 'https://user@a.example'])
			assert.throws(() => readConfig({ PUBLIC_URL }), /PUBLIC_URL/);
		for (const PUBLIC_HOSTS of ['https://a.example', 'a.example/x', '*']) assert.throws(() => readConfig({ PUBLIC_HOSTS }), /PUBLIC_HOSTS/);
	});
});
