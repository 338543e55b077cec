import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let west: FhirCall;
let east: FhirCall;

before(async () => {
	service = await testService();
	west = fhirClient(service, (await service.addSite('west')).key);
	east = fhirClient(service, (await service.addSite('east')).key);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

const observation = (more: object = {}) => ({ resourceType: 'Observation', status: 'final', code: { text: 'Haemoglobin' }, ...more });
const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });
const nowhere = 'http://example.org/fhir/StructureDefinition/nowhere';

interface Issue {
	severity: string;
	code: string;
	diagnostics: string;
	expression?: string[];
}

const issuesOf = (reply: FhirReply): Issue[] => {
	assert.equal(reply.body.resourceType, 'OperationOutcome', reply.text);
	return reply.body.issue;
};
const found = (reply: FhirReply) => [reply.status, ...issuesOf(reply).map(({ severity, code }) => `${severity} ${code}`)];

describe('$validate', () => {
	test('answers an OperationOutcome, stores nothing and takes a Parameters too', async () => {
		const count = async () => (await west('GET', '/Observation?_summary=count')).body.total;
		const before = await count();
		const valid = [200, 'information informational'];
		assert.deepEqual(found(await west('POST', '/Observation/$validate', observation())), valid);
		const resource = { name: 'resource', resource: observation() };
		assert.deepEqual(found(await west('POST', '/Observation/$validate', parameters(resource))), valid);
		const mode = { name: 'mode', valueCode: 'create' };
		assert.deepEqual(found(await west('POST', '/Observation/$validate', parameters(resource, mode))), valid);
		assert.deepEqual(found(await west('POST', '/Patient/$validate', observation())), [200, 'error invalid']);
		assert.deepEqual(found(await west('POST', '/Patient/$validate', parameters())), [400, 'error invalid']);
		const remove = { name: 'mode', valueCode: 'delete' };
		assert.deepEqual(found(await west('POST', '/Observation/$validate', parameters(resource, remove))), [400, 'error not-supported']);
		assert.deepEqual(found(await west('POST', '/Observation/$validate?mode=never', observation())), [400, 'error invalid']);
		assert.deepEqual(found(await west('POST', '/Observation/$validate?mode=update', observation())), [200, 'error required']);
		assert.deepEqual(found(await west('POST', '/Observation/$validate?nonsense=1', observation())), [400, 'error not-supported']);
		assert.equal(await count(), before);
	});

	test('says an error, and names the profile, where it does not know a profile that the caller nominates', async () => {
		const nominations = (['valueUri', 'valueCanonical', 'valueUrl', 'valueString'] as const).map((member) =>
			parameters({ name: 'resource', resource: observation() }, { name: 'profile', [member]: nowhere }),
		);
		const replies = [
			await west('POST', `/Observation/$validate?profile=${encodeURIComponent(nowhere)}`, observation()),
			...(await Promise.all(nominations.map((body) => west('POST', '/Observation/$validate', body)))),
		];
		for (const reply of replies) {
			assert.deepEqual(found(reply), [422, 'error not-found']);
			assert.match(issuesOf(reply)[0]?.diagnostics ?? '', /http:\/\/example\.org\/fhir\/StructureDefinition\/nowhere/);
		}
		const base = 'http://hl7.org/fhir/StructureDefinition/Observation';
		for (const known of [base, `${base}|4.0.1`]) {
			const reply = await west('POST', `/Observation/$validate?profile=${encodeURIComponent(known)}`, observation());
			assert.deepEqual(found(reply), [200, 'information informational']);
		}
		const other = await west('POST', `/Observation/$validate?profile=${encodeURIComponent(base)}|5.0.0`, observation());
		assert.deepEqual(found(other), [422, 'error not-found']);
	});

	test('warns of a profile that the resource claims and nobody knows', async () => {
		const reply = await west('POST', '/Observation/$validate', observation({ meta: { profile: [nowhere] } }));
		assert.deepEqual(found(reply), [200, 'warning not-found']);
		assert.deepEqual(issuesOf(reply)[0]?.expression, ['Observation.meta.profile[0]']);
	});

	test('looks at a stored resource by its id', async () => {
		const { id } = (await west('POST', '/Observation', observation())).body;
		const valid = [200, 'information informational'];
		const unknown = [422, 'error not-found'];
		assert.deepEqual(found(await west('GET', `/Observation/${id}/$validate`)), valid);
		assert.deepEqual(found(await west('GET', `/Observation/${id}/$validate?profile=${nowhere}`)), unknown);
		assert.deepEqual(found(await west('POST', `/Observation/${id}/$validate?profile=${nowhere}`)), unknown);
		const profile = { name: 'profile', valueUri: nowhere };
		assert.deepEqual(
			found(await west('POST', `/Observation/${id}/$validate`, parameters({ name: 'mode', valueCode: 'profile' }, profile))),
			unknown,
		);
		assert.deepEqual(found(await west('POST', `/Observation/${id}/$validate`, observation())), valid);
		assert.deepEqual(found(await west('POST', `/Observation/${id}/$validate`, observation({ id: 'another' }))), [200, 'error invalid']);
		assert.deepEqual(found(await west('POST', `/Observation/${id}/$validate`, 'no JSON')), [400, 'error invalid']);
		assert.deepEqual(found(await east('GET', `/Observation/${id}/$validate`)), [404, 'error not-found']);
	});
});
