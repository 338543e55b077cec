import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { type TestService, testService } from '#test/support/service.ts';

describe('parameters that are canonical URLs', () => {
	let service: TestService;
	let call: FhirCall;

	before(async () => {
		service = await testService();
		call = fhirClient(service, (await service.addSite('west')).key);
	});

	after(() => service[Symbol.asyncDispose]());

	const has = '_has:QuestionnaireResponse:questionnaire:status=completed';

	test('name no resource, so chains and _has through them are refused', async () => {
		for (const search of [
			`/Questionnaire?${has}`,
			'/Patient?_has:ActivityDefinition:depends-on:_id=x',
			'/QuestionnaireResponse?questionnaire.title=Q',
			'/Measure?_has:MeasureReport:measure:status=complete',
		]) {
			const { status, body } = await call('GET', search);
			assert.equal(status, 400, search);
			assert.match(body.issue[0].diagnostics, /is a canonical URL/, search);
		}
	});

	test('as the condition of a write are refused, and the site goes on', async () => {
		const { status } = await call('POST', '/Questionnaire', { resourceType: 'Questionnaire', status: 'draft' }, { 'If-None-Exist': has });
		assert.equal(status, 400);
		assert.equal((await call('POST', '/Patient', { resourceType: 'Patient' })).status, 201);
	});

	test('are refused alone in a batch', async () => {
		const entry = [
			{ resource: { resourceType: 'Patient', active: true }, request: { method: 'POST', url: 'Patient' } },
			{ request: { method: 'GET', url: `Questionnaire?${has}` } },
		];
		const { status, body } = await call('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
		assert.equal(status, 200);
		assert.deepEqual(
			body.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3)),
			['201', '400'],
		);
	});
});
