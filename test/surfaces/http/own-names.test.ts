import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OwnNames, type OwnNamesOptions } from '#surfaces/http/own-names.ts';
import { readConfig } from '../../../src/config.ts';

const none: OwnNamesOptions = { listed: [], others: [], urls: [] };

function passes(options: Partial<OwnNamesOptions>, host: string | undefined, secure = false): boolean {
	const names = new OwnNames({ ...none, ...options });
	try {
		names.check({ secure, header: (name) => (name === 'host' ? host : undefined) });
		return true;
	} catch (error) {
		assert.equal((error as { code?: string }).code, 'misdirected');
		return false;
	}
}

describe('the names of a surface', () => {
	const rows: [what: string, options: Partial<OwnNamesOptions>, host: string | undefined, expected: boolean][] = [
		['an address', {}, '10.1.2.3:8083', true],
		['an address of IPv6', {}, '[2001:db8::1]:8083', true],
		['brackets without an address', {}, '[dead.beef]', false],
		['localhost', {}, 'localhost:8083', true],
		['a name below localhost', {}, 'console.localhost', true],
		['a name that begins with localhost', {}, 'localhost.example', false],
		['a name that looks like an address', {}, '127.0.0.1.example', false],
		['five numbers', {}, '1.2.3.4.5', false],
		['any other name', {}, 'evil.example', false],
		['no Host header', {}, undefined, false],
		['an empty one', {}, '', false],
		['one with a user', {}, 'localhost@evil.example', false],
		['one with a path', {}, 'evil.example/localhost', false],
		['a listed name in other letters, with a port and the dot of the root', { listed: ['Console.Example'] }, 'console.example.:80', true],
		['a name below a listed one', { listed: ['console.example'] }, 'a.console.example', false],
		['a public host that is given with a port', { others: ['fhir.example:8443'] }, 'fhir.example:8083', true],
		['a public host of IPv6', { others: ['[2001:db8::1]:8443'] }, '[2001:db8::1]', true],
		['the name of a URL', { urls: ['https://console.example:8443/'] }, 'console.example', true],
		['every name, where that is said', { listed: ['*'] }, 'evil.example', true],
	];
	for (const [what, options, host, expected] of rows) {
		test(`${expected ? 'include' : 'leave out'} ${what}`, () => assert.equal(passes(options, host), expected));
	}

	test('do not matter by TLS, where the certificate has to have the name', () => {
		assert.equal(passes({}, 'evil.example', true), true);
	});

	test('are listed without ports in OPERATOR_HOSTS', () => {
		assert.deepEqual(readConfig({ OPERATOR_HOSTS: 'console.example, *' }).OPERATOR_HOSTS, ['console.example', '*']);
		for (const wrong of ['console.example:8083', '.example', 'https://console.example', '*.example'])
			assert.throws(
				() => readConfig({ OPERATOR_HOSTS: wrong }),
				/^ConfigurationError: OPERATOR_HOSTS: is host names without a port, or \*$/,
				wrong,
			);
	});
});
