import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssuer } from '#administration/issuers.ts';
import { clientId, jwtAudience, testProvider } from '#test/support/oidc-provider.ts';
import { testService } from '#test/support/service.ts';

test('a provider at an address that ALLOWED_TARGETS does not permit is not called, whatever its name; its tokens are answered 503', async () => {
	await using service = await testService({ ALLOWED_TARGETS: '127.0.0.2' });
	await using inside = await testProvider(['system/*.rs']);
	await service.addSite('north');
	const named = inside.issuer.replace('127.0.0.1', 'localhost');
	const row = { site: 'north', owner: 'owner@example.org', audience: jwtAudience, clients: [clientId] };
	await assert.rejects(addIssuer(service.administration, { ...row, issuer: inside.issuer }), /ALLOWED_TARGETS does not permit it/);
	await addIssuer(service.administration, { ...row, issuer: named });
	const headers = { Authorization: `Bearer ${await inside.forge({ iss: named, scope: 'system/*.rs' })}` };
	const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient`, { headers });
	assert.equal(answer.status, 503);
	assert.ok(answer.headers.has('retry-after'));
	await answer.body?.cancel();
	assert.deepEqual([...inside.requests], []);
});
