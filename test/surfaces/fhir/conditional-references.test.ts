import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

describe('a conditional reference of a transaction', () => {
	let service: TestService;
	let west: FhirCall;
	before(async () => {
		service = await testService();
		west = fhirClient(service, (await service.addSite('west')).key);
	});
	after(() => service[Symbol.asyncDispose]());

	const patient = (value: string, more: object = {}) => ({ resourceType: 'Patient', identifier: [{ system: 'urn:t', value }], ...more });
	const observation = (reference: string) => ({
		resourceType: 'Observation',
		status: 'final',
		code: { text: 'x' },
		subject: { reference },
	});
	const post = (resource: { resourceType: string }, more: object = {}) => ({
		resource,
		request: { method: 'POST', url: resource.resourceType, ...more },
	});
	const transaction = (...entry: object[]): Promise<FhirReply> => west('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
	const subjectOf = ({ body }: FhirReply, at: number) => body.entry[at].resource.subject.reference;
	const countOf = async (value: string) => (await west('GET', `/Patient?identifier=urn:t|${value}`)).body.entry?.length ?? 0;

	test('finds what the same transaction creates or updates, wherever its entry stands', async () => {
		for (const [value, criteria] of [
			['t1', 'identifier=urn:t|t1'],
			['t2', 'identifier=t2'],
			['t3,4', 'identifier=urn:t%7Ct3%5C,4'],
		] as const) {
			const created = await transaction(post(observation(`Patient?${criteria}`)), post(patient(value)));
			assert.equal(created.status, 200, created.text);
			assert.equal(subjectOf(created, 0), `Patient/${created.body.entry[1].resource.id}`);
		}
		const chosen = { resource: patient('t5', { id: 'chosen' }), request: { method: 'PUT', url: 'Patient/chosen' } };
		assert.equal(subjectOf(await transaction(chosen, post(observation('Patient?identifier=urn:t|t5'))), 1), 'Patient/chosen');
		// The stored resource is the one that is written.
		assert.equal(subjectOf(await transaction(chosen, post(observation('Patient?identifier=urn:t|t5'))), 1), 'Patient/chosen');
		const unchanged = post(patient('t5'), { ifNoneExist: 'identifier=urn:t|t5' });
		assert.equal(subjectOf(await transaction(unchanged, post(observation('Patient?identifier=urn:t|t5'))), 1), 'Patient/chosen');
	});

	test('that finds several, of the site and of the transaction, is refused whole', async () => {
		const refused = async (...entry: object[]) => {
			const { status, body } = await transaction(...entry);
			return [status, (body as FhirBody).issue[0].diagnostics];
		};
		const several = [412, 'a conditional reference matches more than one Patient'];
		assert.deepEqual(await refused(post(patient('s1')), post(patient('s1')), post(observation('Patient?identifier=urn:t|s1'))), several);
		await west('POST', '/Patient', patient('s2'));
		assert.deepEqual(await refused(post(patient('s2')), post(observation('Patient?identifier=urn:t|s2'))), several);
		assert.deepEqual([await countOf('s1'), await countOf('s2')], [0, 1]);
	});

	test('is not found by another system, type or search', async () => {
		const none = async (resource: { resourceType: string }, reference: string) =>
			(await transaction(post(resource), post(observation(reference)))).status;
		assert.equal(await none(patient('n1'), 'Patient?identifier=urn:other|n1'), 412);
		assert.equal(await none(patient('n1'), 'Patient?identifier=|n1'), 412);
		assert.equal(await none({ ...patient('n1'), resourceType: 'Practitioner' }, 'Patient?identifier=urn:t|n1'), 412);
		assert.equal(await none(patient('n1', { gender: 'male' }), 'Patient?identifier=urn:t|n1&gender=female'), 412);
		assert.equal(await countOf('n1'), 0);
	});
});
