import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { addProfiles, findProfiles, removeProfiles } from '#administration/profiles.ts';
import { setSite } from '#administration/sites.ts';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { fhirPackage } from '#test/support/fhir-package.ts';
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

describe('a narrative with a script', () => {
	const links = [
		'&#106;avascript:alert(1)',
		'&#x6A;avascript:alert(1)',
		'java&#9;script:alert(1)',
		'javascript&colon;alert(1)',
		'data:text/html;base64,PHA+',
	];
	for (const link of links) {
		test(`is refused with its place, in a Bundle too: ${link}`, async () => {
			const div = `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${link}">x</a></div>`;
			const resource = { resourceType: 'Patient', text: { status: 'generated', div } };
			const place = (reply: FhirReply) => [reply.status, ...issuesOf(reply).map(({ severity, expression }) => [severity, expression])];
			assert.deepEqual(place(await west('POST', '/Patient', resource)), [400, ['error', ['Patient.text.div']]]);
			assert.deepEqual(place(await west('POST', '/Patient/$validate', resource)), [200, ['error', ['Patient.text.div']]]);
			const entry = [{ resource, request: { method: 'POST', url: 'Patient' } }];
			const reply = await west('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
			assert.deepEqual(place(reply), [400, ['error', ['Bundle.entry[0].resource.text.div']]]);
		});
	}
});

describe('a write of a resource that claims a profile', () => {
	const vital = 'http://hl7.org/fhir/StructureDefinition/vitalsigns';
	const claiming = (more: object = {}) => observation({ meta: { profile: [vital, nowhere] }, ...more });
	const told = { Prefer: 'return=OperationOutcome' };
	const set = (profiles: 'off' | 'warn' | 'enforce') => setSite(service.administration, { slug: 'west', profiles });
	const patch = [{ op: 'add', path: '/note', value: [{ text: 'x' }] }];
	const warned = [
		'information informational',
		'warning required',
		'warning required',
		'warning required',
		'warning required',
		'warning invariant',
	];

	test('is stored, and its client is told on demand', async () => {
		const reply = await west('POST', '/Observation', claiming(), told);
		assert.equal(reply.status, 201);
		assert.deepEqual(found(reply).slice(1).sort(), [...warned].sort());
		assert.equal((await west('POST', '/Observation', claiming())).body.resourceType, 'Observation');
		const id = reply.headers.get('location')?.split('/').at(-3) ?? '';
		assert.deepEqual(
			found(await west('PATCH', `/Observation/${id}`, patch, told))
				.slice(1)
				.sort(),
			[...warned].sort(),
		);
		const entry = [{ resource: claiming(), request: { method: 'POST', url: 'Observation' } }];
		for (const type of ['transaction', 'batch']) {
			const { body } = await west('POST', '', { resourceType: 'Bundle', type, entry }, told);
			assert.equal(body.entry[0].response.outcome.issue.length, warned.length, type);
		}
		assert.deepEqual(found(await west('POST', '/Observation', observation({ meta: { profile: [nowhere] } }), told)), [
			201,
			'information informational',
		]);
	});

	test('is refused where the site enforces profiles, and not looked at where they are off', async () => {
		const { body } = await west('POST', '/Observation', claiming());
		await set('enforce');
		const refused = [422, 'error invariant', 'error required', 'error required', 'error required', 'error required'];
		const sorted = (reply: FhirReply) => [reply.status, ...found(reply).slice(1).map(String).sort()];
		assert.deepEqual(sorted(await west('POST', '/Observation', claiming())), refused);
		assert.deepEqual(sorted(await west('PUT', `/Observation/${body.id}`, { ...claiming(), id: body.id })), refused);
		assert.deepEqual(sorted(await west('PATCH', `/Observation/${body.id}`, patch)), refused);
		const entry = [{ resource: claiming(), request: { method: 'POST', url: 'Observation' } }];
		const transaction = await west('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
		assert.deepEqual([transaction.status, issuesOf(transaction).length], [422, 5]);
		assert.equal((await west('POST', '/Observation', observation())).status, 201);
		assert.equal((await east('POST', '/Observation', claiming())).status, 201);
		await set('off');
		assert.deepEqual(found(await west('POST', '/Observation', claiming(), told)), [201, 'information informational']);
		await set('warn');
	});
});

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

	test('checks the profiles that ship: vital signs of R4, US Core and IPS', async () => {
		const against = async (profile: string, resource: { resourceType: string; [element: string]: unknown }) => {
			const reply = await west('POST', `/${resource.resourceType}/$validate?profile=${profile}`, resource);
			assert.equal(reply.status, 200);
			return issuesOf(reply)
				.filter(({ severity }) => severity === 'error')
				.map(({ code, expression = [] }) => `${code} ${expression[0]}`);
		};
		const core = 'http://hl7.org/fhir/StructureDefinition';
		const us = 'http://hl7.org/fhir/us/core/StructureDefinition';
		const subject = { reference: 'Patient/x' };
		const category = (code: string) => [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code }] }];
		const loinc = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });
		const vital = { subject, category: category('vital-signs'), effectiveDateTime: '2026-01-05' };
		const beats = { value: 60, unit: 'beats/minute', system: 'http://unitsofmeasure.org', code: '/min' };
		const rate = observation({ ...vital, code: loinc('8867-4'), valueQuantity: beats });
		assert.deepEqual(await against(`${core}/vitalsigns`, rate), []);
		assert.deepEqual(await against(`${core}/heartrate`, rate), []);
		const claimed = await west('POST', '/Observation/$validate', observation({ subject, meta: { profile: [`${core}/vitalsigns`] } }));
		const faults = [
			'required Observation.category',
			'required Observation.category',
			'required Observation.effective',
			'invariant Observation',
		];
		assert.deepEqual(
			issuesOf(claimed)
				.map(({ code, expression = [] }) => `${code} ${expression[0]}`)
				.sort(),
			faults.sort(),
		);
		const wrongUnit = { ...rate, valueQuantity: { ...beats, code: 'beats' } };
		assert.deepEqual(await against(`${core}/heartrate`, wrongUnit), ['value Observation.value.code']);
		const pressure = {
			code: loinc('85354-9'),
			component: [{ code: loinc('8480-6'), valueQuantity: { ...beats, code: 'mm[Hg]', unit: 'mmHg' } }],
		};
		assert.deepEqual(await against(`${core}/bp`, observation({ ...vital, ...pressure })), [
			'required Observation.component',
			'required Observation.component',
		]);
		const lab = observation({
			subject,
			category: category('laboratory'),
			code: loinc('718-7'),
			effectiveDateTime: '2026-01-05',
			valueString: 'x',
		});
		assert.deepEqual(await against(`${us}/us-core-observation-lab`, lab), []);
		assert.deepEqual(await against(`${us}/us-core-observation-lab|6.1.0`, { ...lab, category: category('imaging') }), [
			'required Observation.category',
		]);
		const person = { resourceType: 'Patient', identifier: [{ system: 'urn:mrn', value: '1' }], name: [{ family: 'A' }], gender: 'female' };
		assert.deepEqual(await against(`${us}/us-core-patient`, person), []);
		assert.deepEqual(await against(`${us}/us-core-patient`, { ...person, name: [{ use: 'official' }], identifier: [{ value: '1' }] }), [
			'required Patient.identifier[0].system',
			'invariant Patient.name[0]',
		]);
		const ips = 'http://hl7.org/fhir/uv/ips/StructureDefinition/Patient-uv-ips';
		assert.deepEqual(await against(ips, person), ['required Patient.birthDate']);
		assert.deepEqual(await against(ips, { ...person, birthDate: '1970-01-01' }), []);
	});

	test('knows the profiles that a site has loaded, from the moment when they are loaded until they are removed', async () => {
		const context = service.administration;
		const url = 'https://example.org/fhir/StructureDefinition/ward-observation';
		const wards = 'https://example.org/fhir/ValueSet/wards';
		const packed = fhirPackage({
			'package/StructureDefinition-ward.json': {
				resourceType: 'StructureDefinition',
				url,
				name: 'WardObservation',
				type: 'Observation',
				derivation: 'constraint',
				baseDefinition: 'http://hl7.org/fhir/StructureDefinition/vitalsigns',
				differential: {
					element: [{ id: 'Observation.method', path: 'Observation.method', min: 1, binding: { strength: 'required', valueSet: wards } }],
				},
			},
			'package/ValueSet-wards.json': {
				resourceType: 'ValueSet',
				url: wards,
				name: 'Wards',
				compose: { include: [{ system: 'urn:wards', concept: [{ code: 'N1' }] }] },
			},
		});
		const ask = async (call: FhirCall, code = 'N2') => {
			const given = observation({ method: { coding: [{ system: 'urn:wards', code }] } });
			return found(await call('POST', `/Observation/$validate?profile=${url}`, given));
		};
		assert.deepEqual(await ask(west), [422, 'error not-found']);
		await addProfiles(context, { site: 'west', file: packed.toString('base64') });
		assert.deepEqual(
			(await ask(west)).filter((line) => line !== 'error required'),
			[200, 'error invariant', 'error code-invalid'],
		);
		assert.ok(!(await ask(west, 'N1')).includes('error code-invalid'));
		assert.deepEqual(await ask(east), [422, 'error not-found']);
		const held = await findProfiles(context, { profile: 'example.fhir.profiles', site: 'west' });
		await removeProfiles(context, { profile: 'example.fhir.profiles' }, held?.found ?? []);
		assert.deepEqual(await ask(west), [422, 'error not-found']);
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

describe('$validate for a write', () => {
	const missing = observation({ subject: { reference: 'Patient/nix' }, performer: [{ reference: 'Patient/nix' }] });

	test('tells of references what the write would be refused for', async () => {
		const { body, status } = await west('POST', '/Observation', missing);
		assert.equal(status, 422);
		for (const mode of ['create', 'update']) {
			const given = { ...missing, id: 'of-nix' };
			const validated = await west('POST', `/Observation/$validate?mode=${mode}&_format=json`, given);
			assert.deepEqual([validated.status, issuesOf(validated)], [200, body.issue]);
			const resource = { name: 'resource', resource: given };
			const inBody = await west('POST', '/Observation/$validate', parameters({ name: 'mode', valueCode: mode }, resource));
			assert.deepEqual(issuesOf(inBody), body.issue);
		}
		const urn = observation({ subject: { reference: 'urn:uuid:0e8f2b0e-6a3f-4b0e-9a52-3f6f2b1c7d10' } });
		const refused = await west('POST', '/Observation', urn);
		assert.deepEqual(issuesOf(await west('POST', '/Observation/$validate?mode=create', urn)), issuesOf(refused));
		const faulty = await west('POST', '/Observation/$validate?mode=create', { ...missing, status: undefined });
		assert.deepEqual(found(faulty), [200, 'error required', 'error not-found', 'error not-found']);
	});

	test('is satisfied by a patient of the site, and where nobody asks about a write', async () => {
		const valid = [200, 'information informational'];
		assert.equal((await west('PUT', '/Patient/here', { resourceType: 'Patient', id: 'here' })).status, 201);
		const here = observation({ subject: { reference: 'Patient/here' }, performer: [{ reference: 'Patient/here/_history/1' }] });
		assert.deepEqual(found(await west('POST', '/Observation/$validate?mode=create', here)), valid);
		assert.deepEqual(found(await east('POST', '/Observation/$validate?mode=create', here)), [200, 'error not-found', 'error not-found']);
		for (const query of ['', '?mode=profile'])
			assert.deepEqual(found(await west('POST', `/Observation/$validate${query}`, missing)), valid);
		await setSite(service.administration, { slug: 'west', check_references: false });
		assert.deepEqual(found(await west('POST', '/Observation/$validate?mode=create', missing)), valid);
		await setSite(service.administration, { slug: 'west', check_references: true });
	});
});
