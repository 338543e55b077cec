import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { fhirClient } from '#test/support/fhir-client.ts';
import { testService } from '#test/support/service.ts';

/** What comes back of one request, headers and all. */
function raw(port: number, text: string): Promise<string> {
	return new Promise((resolve, reject) => {
		const socket = connect(port, '127.0.0.1', () => socket.write(text));
		let answer = '';
		socket.on('data', (chunk) => {
			// What is wrong with an answer may stand behind it.
			if (answer === '') setTimeout(() => socket.end(), 300);
			answer += chunk;
		});
		socket.on('error', reject);
		socket.on('close', () => resolve(answer));
	});
}

test('HEAD and OPTIONS of any path are answered on every origin, and nobody ends the process', async () => {
	await using service = await testService();
	for (const surface of ['fhir', 'hl7', 'mpps', 'ops']) {
		for (const [method, path] of [
			['HEAD', '/'],
			['HEAD', '/nothing/at/all'],
			['OPTIONS', '/fhir/Patient/p1'],
			['OPTIONS', '/v2/ingest'],
			['HEAD', '/ingest'],
			['DELETE', '/metrics'],
		]) {
			const answer = await raw(service.port(surface), `${method} ${path} HTTP/1.1\r\nHost: h\r\n\r\n`);
			// GET / says where the documentation is.
			assert.match(
				answer,
				path === '/' ? /^HTTP\/1\.1 (?:200|404) / : /^HTTP\/1\.1 (?:204|4\d\d) /,
				`${surface} ${method} ${path}: ${answer}`,
			);
		}
	}
	assert.equal((await fetch(`http://127.0.0.1:${service.port('ops')}/health/live`)).status, 200);
});

test('304 and 204 say no length', async () => {
	await using service = await testService();
	const { key } = await service.addSite('west');
	await fhirClient(service, key)('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a' });
	const headers = `Host: h\r\nX-API-Key: ${key}\r\nIf-None-Match: W/"1"\r\n`;
	const answer = await raw(service.port('fhir'), `GET /fhir/Patient/a HTTP/1.1\r\n${headers}\r\n`);
	assert.match(answer, /^HTTP\/1\.1 304 /);
	assert.doesNotMatch(answer, /content-length: [1-9]/i);
	const options = await raw(service.port('fhir'), `OPTIONS /fhir/Patient/a HTTP/1.1\r\nHost: h\r\n\r\n`);
	assert.match(options, /^HTTP\/1\.1 204 /);
	assert.doesNotMatch(options, /content-length: [1-9]/i);
});
