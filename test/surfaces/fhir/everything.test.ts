import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let west: FhirCall;

const reference = (to: string) => ({ reference: to });
const code = { text: 'any' };

/** Ann is examined at a clinic, which belongs to a trust. Ben is seen by the same doctor. */
const sample = [
	{ resourceType: 'Organization', id: 'trust', name: 'Trust' },
	{ resourceType: 'Organization', id: 'clinic', name: 'Clinic', partOf: reference('Organization/trust') },
	{ resourceType: 'Organization', id: 'elsewhere', name: 'Elsewhere' },
	{ resourceType: 'Practitioner', id: 'doctor', name: [{ family: 'Gray' }] },
	{
		resourceType: 'PractitionerRole',
		id: 'role',
		practitioner: reference('Practitioner/doctor'),
		organization: reference('Organization/clinic'),
	},
	{ resourceType: 'Patient', id: 'ann', managingOrganization: reference('Organization/clinic') },
	{ resourceType: 'Patient', id: 'ben', generalPractitioner: [reference('Practitioner/doctor')] },
	{
		resourceType: 'Observation',
		id: 'pulse',
		status: 'final',
		code,
		subject: reference('Patient/ann'),
		performer: [reference('PractitionerRole/role')],
	},
	{ resourceType: 'Observation', id: 'of-ben', status: 'final', code, subject: reference('Patient/ben') },
	{
		...{ resourceType: 'Observation', id: 'weight', status: 'final', code, subject: reference('Patient/ann') },
		derivedFrom: [reference('Observation/of-ben')],
		performer: [reference('Practitioner/nobody-has-it'), reference('https://elsewhere.example.org/fhir/Practitioner/doctor')],
	},
];

before(async () => {
	service = await testService();
	west = fhirClient(service, (await service.addSite('west')).key);
	const east = fhirClient(service, (await service.addSite('east')).key);
	for (const resource of sample) {
		const reply = await west('PUT', `/${resource.resourceType}/${resource.id}`, resource);
		assert.equal(reply.status, 201, reply.text);
	}
	await east('PUT', '/Practitioner/nobody-has-it', { resourceType: 'Practitioner', id: 'nobody-has-it' });
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

/** Names of the entries, by their mode. */
function shown({ body }: FhirReply): { match: string[]; include: string[] } {
	const names = (mode: string): string[] =>
		(body.entry ?? [])
			.filter(({ search }: FhirBody) => search.mode === mode)
			.map(({ resource }: FhirBody) => `${resource.resourceType}/${resource.id}`)
			.sort();
	return { match: names('match'), include: names('include') };
}

describe('$everything', () => {
	test('has what the record refers to, and what that refers to; nothing of another patient or site', async () => {
		const reply = await west('GET', '/Patient/ann/$everything');
		assert.deepEqual(shown(reply), {
			match: ['Observation/pulse', 'Observation/weight', 'Patient/ann'],
			include: ['Organization/clinic', 'Organization/trust', 'Practitioner/doctor', 'PractitionerRole/role'],
		});
		assert.equal(reply.body.total, 3);
	});

	test('keeps to the types that are named, whoever refers to them', async () => {
		const of = async (types: string) => shown(await west('GET', `/Patient/ann/$everything?_type=${types}`));
		assert.deepEqual(await of('Observation'), { match: ['Observation/pulse', 'Observation/weight'], include: [] });
		assert.deepEqual(await of('Patient,Organization'), { match: ['Patient/ann'], include: ['Organization/clinic', 'Organization/trust'] });
		assert.deepEqual(await of('PractitionerRole'), { match: [], include: ['PractitionerRole/role'] });
		const unknown = await west('GET', '/Patient/ann/$everything?_type=Organization,Nothing');
		assert.deepEqual([unknown.status, unknown.body.issue[0].expression], [400, ['_type']]);
	});

	test('has on each page what its resources refer to', async () => {
		const pages = [];
		for (let next: string | undefined = '/Patient/ann/$everything?_count=1'; next !== undefined; ) {
			const reply: FhirReply = await west('GET', next);
			pages.push(shown(reply));
			next = reply.body.link.find(({ relation }: FhirBody) => relation === 'next')?.url.split('/fhir')[1];
		}
		const clinic = ['Organization/clinic', 'Organization/trust'];
		const expected = new Map([
			['Patient/ann', clinic],
			['Observation/pulse', [...clinic, 'Practitioner/doctor', 'PractitionerRole/role']],
			['Observation/weight', []],
		]);
		assert.deepEqual(new Map(pages.map(({ match: [name = ''], include }) => [name, include])), expected);
		assert.equal(pages.length, expected.size);
	});
});

test('has what names the patient beside others, wherever among them', async () => {
	const both = [reference('Patient/ben'), reference('Patient/ann')];
	const shared = [
		{ resourceType: 'Account', id: 'account', status: 'active', subject: both },
		{ resourceType: 'Group', id: 'group', type: 'person', actual: true, member: both.map((entity) => ({ entity })) },
		{ resourceType: 'Person', id: 'person', link: both.map((target) => ({ target })) },
		{
			...{ resourceType: 'Appointment', id: 'appointment', status: 'proposed' },
			participant: both.map((actor) => ({ actor, status: 'accepted' })),
		},
	];
	for (const resource of shared) {
		const reply = await west('PUT', `/${resource.resourceType}/${resource.id}`, resource);
		assert.equal(reply.status, 201, reply.text);
	}
	for (const id of ['ann', 'ben']) {
		const { body } = await west('GET', `/Patient/${id}/$everything?_type=${shared.map(({ resourceType }) => resourceType).join(',')}`);
		assert.deepEqual(body.entry.map(({ resource }: FhirBody) => resource.id).sort(), shared.map((one) => one.id).sort(), id);
	}
});
