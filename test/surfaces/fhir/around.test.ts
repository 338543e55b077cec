import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { idsOf, writeSample } from '#test/support/fhir-sample.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let west: FhirCall;
let east: FhirCall;

before(async () => {
	service = await testService();
	west = fhirClient(service, (await service.addSite('west')).key);
	east = fhirClient(service, (await service.addSite('east')).key);
	await writeSample(west);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

async function create(body: object): Promise<FhirBody> {
	const reply = await west('POST', `/${(body as { resourceType: string }).resourceType}`, body);
	assert.equal(reply.status, 201, reply.text);
	return reply.body;
}

/** Ids of the matches, sorted. */
async function found(search: string, site = west): Promise<string[]> {
	const reply = await site('GET', search);
	assert.equal(reply.status, 200, `${search}: ${reply.text}`);
	return idsOf(reply).sort();
}

describe('around a resource', () => {
	test(':iterate follows what was included, of the own site, round in a circle too', async () => {
		const panel = (id: string, member: string) => ({
			...{ resourceType: 'Observation', id, status: 'final', code: { text: 'panel' }, subject: { reference: 'Patient/cat' } },
			hasMember: [{ reference: `Observation/${member}` }],
		});
		const chain = Array.from({ length: 12 }, (_, index) => [`step${index}`, `step${index + 1}`] as const);
		for (const [id, member] of [...chain, ['ring1', 'ring2'], ['ring2', 'ring3'], ['ring3', 'ring1'], ['deep0', 'na']] as const) {
			assert.equal((await west('PUT', `/Observation/${id}`, panel(id, member))).status, 201);
			assert.equal((await east('PUT', `/Observation/${id}`, { ...panel(id, member), subject: undefined })).status, 201);
		}
		const member = 'Observation:has-member';
		const included = async (query: string, site = west) => idsOf(await site('GET', `/${query}`), 'include').sort();
		assert.deepEqual(await included(`Observation?_id=ring1&_include=${member}`), ['ring2']);
		assert.deepEqual(await included(`Observation?_id=ring1&_include:iterate=${member}`), ['ring2', 'ring3']);
		assert.deepEqual(await included(`Observation?_id=ring1&_include:iterate=${member}`, east), ['ring2', 'ring3']);
		assert.deepEqual(await included(`Observation?_id=deep0&_include=${member}&_include:iterate=${member}`), ['hb3', 'na']);
		assert.deepEqual(await included(`Observation?_id=deep0&_include:iterate=${member}`, east), []);
		assert.deepEqual(await included(`Observation?_id=deep0&_include=${member}&_include:iterate=Observation:patient`), ['ben', 'cat', 'na']);
		const deep = await west('GET', `/Observation?_id=step0&_include:iterate=${member}`);
		assert.equal(idsOf(deep, 'include').length, 8);
		assert.match(deep.body.entry.at(-1).resource.issue[0].diagnostics, /8 steps at most/);
		assert.deepEqual(await included('Patient?_id=anna&_revinclude:iterate=Observation:patient&_revinclude=Condition:patient'), [
			'c1',
			'hb1',
			'hb2',
		]);
		assert.deepEqual(
			await included(
				`Observation?_id=na&_include=Observation:patient&_revinclude:iterate=Condition:patient&_revinclude:iterate=Observation:patient`,
			),
			['ben', 'hb3'],
		);
	});

	test('are found in the compartments of patients and visits, at the own site only', async () => {
		const person = (await create({ resourceType: 'Patient', name: [{ family: 'Compartment' }] })).id;
		const subject = { reference: `Patient/${person}` };
		const visit = (await create({ resourceType: 'Encounter', status: 'finished', class: { code: 'AMB' }, subject })).id;
		const encounter = { reference: `Encounter/${visit}` };
		const code = { coding: [{ system: 'urn:c', code: 'k' }] };
		const seen = await create({ resourceType: 'Observation', status: 'final', code, subject, encounter });
		const later = await create({ resourceType: 'Observation', status: 'preliminary', code: { text: 'other' }, subject });
		const wanted = await create({ resourceType: 'ServiceRequest', status: 'active', intent: 'order', subject, encounter });
		const participant = [{ actor: subject, status: 'accepted' }];
		const booked = await create({ resourceType: 'Appointment', status: 'proposed', participant });
		await create({
			resourceType: 'Appointment',
			status: 'proposed',
			participant: [{ actor: { reference: 'Patient/ben' }, status: 'accepted' }],
		});
		assert.deepEqual(await found(`/Patient/${person}/Observation`), [seen.id, later.id].sort());
		assert.deepEqual(await found(`/Patient/${person}/Observation?code=urn:c|k`), [seen.id]);
		assert.deepEqual(await found(`/Patient/${person}/ServiceRequest?status=active`), [wanted.id]);
		assert.deepEqual(await found(`/Patient/${person}/Appointment`), [booked.id]);
		assert.deepEqual(await found(`/Encounter/${visit}/Observation`), [seen.id]);
		assert.deepEqual(await found(`/Encounter/${visit}/ServiceRequest`), [wanted.id]);
		for (const path of [`Patient/${person}/Observation`, `Patient/${person}/Appointment`, `Encounter/${visit}/Observation`]) {
			assert.deepEqual(await found(`/${path}`, east), [], path);
		}
		const page = await west('GET', `/Patient/${person}/Observation?_count=1`);
		const next = page.body.link.find(({ relation }: FhirBody) => relation === 'next').url as string;
		assert.match(next, new RegExp(`/Patient/${person}/Observation\\?`));
		const following = await west('GET', next.slice(next.indexOf('/fhir/') + 5));
		assert.deepEqual([page, following].map(({ body }) => body.entry[0].resource.id).sort(), [seen.id, later.id].sort());
		const batch = { resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url: `Patient/${person}/Appointment` } }] };
		assert.equal((await west('POST', '', batch)).body.entry[0].resource.entry.length, 1);
		for (const path of ['Organization', 'Nothing', '*', 'Patient']) {
			assert.equal((await west('GET', `/Patient/${person}/${path}`)).status, 404, path);
		}
		assert.equal((await west('GET', `/Organization/${person}/Observation`)).status, 404);
		assert.equal((await west('GET', `/Patient/${person}/Observation?nothing=1`)).status, 400);
	});

	test('$everything has what belongs to a time of care, and what has no date', async () => {
		const person = (await create({ resourceType: 'Patient', birthDate: '1950-01-01' })).id;
		const subject = { reference: `Patient/${person}` };
		const code = { text: 'c' };
		const types = new Map<string, string>([[person, 'Patient']]);
		const made = async (name: string, body: object) => types.set((await create({ code, subject, ...body })).id, name);
		const observation = { resourceType: 'Observation', status: 'final' };
		await made('before', { ...observation, effectiveDateTime: '2023-12-31' });
		await made('first day', { ...observation, effectiveDateTime: '2024-01-01T08:00:00Z' });
		await made('last day', { ...observation, effectiveDateTime: '2024-01-31T22:00:00Z' });
		await made('after', { ...observation, effectiveDateTime: '2024-02-01' });
		await made('across', { ...observation, effectivePeriod: { start: '2023-06-01', end: '2024-06-01' } });
		await made('undated', observation);
		await made('old problem', { resourceType: 'Condition', onsetDateTime: '2010-01-01' });
		await made('new problem', { resourceType: 'Condition', onsetDateTime: '2024-03-01' });
		const order = { resourceType: 'ServiceRequest', status: 'active', intent: 'order' };
		await made('early order', { ...order, authoredOn: '2020-01-01' });
		await made('planned order', { ...order, authoredOn: '2020-01-01', occurrenceDateTime: '2024-01-10' });
		await made('undated order', order);
		const names = async (query: string, site = west) => {
			const reply = await site('GET', `/Patient/${person}/$everything?${query}`);
			return reply.status === 200
				? idsOf(reply)
						.map((id) => types.get(id))
						.sort()
				: reply.status;
		};
		const always = ['Patient', 'across', 'old problem', 'undated', 'undated order'];
		assert.deepEqual(await names('start=2024-01-01&end=2024-01-31'), [...always, 'first day', 'last day', 'planned order'].sort());
		assert.deepEqual(await names('end=2023-12-31'), [...always, 'before', 'early order', 'planned order'].sort());
		const since = ['after', 'first day', 'last day', 'new problem', 'planned order'];
		assert.deepEqual(await names('start=2024'), [...always, ...since].sort());
		assert.deepEqual(await names('start=2024-02&_type=Observation'), ['across', 'after', 'undated']);
		assert.equal((await names('')).toString().split(',').length, 12);
		assert.equal(await names('start=2024', east), 404);
		assert.equal(await names('start=soon'), 400);
		assert.equal(await names('end=ge2024&_type=Patient'), 400);
		const pages: (string | undefined)[] = [];
		for (let next: string | undefined = `/Patient/${person}/$everything?start=2024-01-01&end=2024-01-31&_count=3`; next !== undefined; ) {
			const reply = await west('GET', next);
			assert.equal(reply.status, 200, reply.text);
			pages.push(...idsOf(reply).map((id) => types.get(id)));
			const url: string | undefined = reply.body.link.find(({ relation }: FhirBody) => relation === 'next')?.url;
			next = url?.slice(url.indexOf('/fhir/') + 5);
		}
		assert.deepEqual(pages.sort(), [...always, 'first day', 'last day', 'planned order'].sort());
	});
});
