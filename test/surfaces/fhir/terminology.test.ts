import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { addProfiles } from '#administration/profiles.ts';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { fhirPackage } from '#test/support/fhir-package.ts';
import { type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let west: FhirCall;
let east: FhirCall;

const ward = 'urn:wards';
const wardSet = 'https://example.org/fhir/ValueSet/north-wards';

before(async () => {
	service = await testService();
	west = fhirClient(service, (await service.addSite('west')).key);
	east = fhirClient(service, (await service.addSite('east')).key);
	const concept = [
		{
			code: 'house',
			display: 'House',
			concept: [
				{ code: 'N1', display: 'North 1' },
				{ code: 'N2', display: 'North 2' },
			],
		},
		{ code: 'garden', display: 'Garden' },
	];
	const packed = fhirPackage({
		'package/CodeSystem-wards.json': { resourceType: 'CodeSystem', url: ward, name: 'Wards', version: '1', content: 'complete', concept },
		'package/ValueSet-wards.json': {
			resourceType: 'ValueSet',
			url: wardSet,
			name: 'NorthWards',
			compose: { include: [{ system: ward, filter: [{ property: 'concept', op: 'descendent-of', value: 'house' }] }] },
		},
	});
	await addProfiles(service.administration, { site: 'west', file: packed.toString('base64') });
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });
const failed = (reply: FhirReply) => [reply.status, reply.body.resourceType, reply.body.issue?.[0]?.code];
const codes = (reply: FhirReply) => reply.body.expansion.contains?.map(({ code }: { code: string }) => code) ?? [];
const partOf = (reply: FhirReply, name: string) => {
	assert.equal(reply.body.resourceType, 'Parameters', reply.text);
	const found = reply.body.parameter.find((parameter: { name: string }) => parameter.name === name);
	return found && Object.entries(found).find(([member]) => member.startsWith('value'))?.[1];
};
const genders = 'http://hl7.org/fhir/ValueSet/administrative-gender';
const gender = 'http://hl7.org/fhir/administrative-gender';

describe('ValueSet/$expand', () => {
	test('lists the codes of a value set of R4, whole, by filter and by page', async () => {
		const whole = await west('GET', `/ValueSet/$expand?url=${genders}`);
		assert.deepEqual([whole.status, codes(whole), whole.body.expansion.total], [200, ['male', 'female', 'other', 'unknown'], 4]);
		assert.deepEqual(whole.body.expansion.contains[0], { system: gender, code: 'male', display: 'Male' });
		assert.deepEqual(codes(await west('GET', `/ValueSet/$expand?url=${genders}&filter=MALE`)), ['male', 'female']);
		const page = await west('GET', `/ValueSet/$expand?url=${genders}&count=2&offset=1`);
		assert.deepEqual([codes(page), page.body.expansion.total, page.body.expansion.offset], [['female', 'other'], 4, 1]);
		const body = parameters({ name: 'url', valueUri: genders }, { name: 'count', valueInteger: 1 });
		assert.deepEqual(codes(await west('POST', '/ValueSet/$expand', body)), ['male']);
	});

	test('knows what its site has loaded, and no other site', async () => {
		assert.deepEqual(codes(await west('GET', `/ValueSet/$expand?url=${wardSet}`)), ['N1', 'N2']);
		assert.deepEqual(failed(await east('GET', `/ValueSet/$expand?url=${wardSet}`)), [404, 'OperationOutcome', 'not-found']);
	});

	test('says what it cannot do', async () => {
		assert.deepEqual(failed(await west('GET', '/ValueSet/$expand')), [422, 'OperationOutcome', 'required']);
		assert.deepEqual(failed(await west('GET', '/ValueSet/$expand?url=urn:none')), [404, 'OperationOutcome', 'not-found']);
		const loinc = 'http://hl7.org/fhir/ValueSet/observation-codes';
		assert.deepEqual(failed(await west('GET', `/ValueSet/$expand?url=${loinc}`)), [422, 'OperationOutcome', 'processing']);
		assert.deepEqual(failed(await west('GET', `/ValueSet/$expand?url=${genders}&count=-1`)), [400, 'OperationOutcome', 'invalid']);
		assert.deepEqual(failed(await west('GET', `/ValueSet/$expand?url=${genders}&date=2020`)), [400, 'OperationOutcome', 'not-supported']);
		assert.deepEqual(failed(await west('POST', '/ValueSet/$expand', { resourceType: 'ValueSet' })), [400, 'OperationOutcome', 'invalid']);
		const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/ValueSet/$expand?url=${genders}`);
		assert.equal(answer.status, 401);
	});
});

describe('an operation about a version', () => {
	const others: [path: string, there: RegExp][] = [
		[`ValueSet/$expand?url=${genders}|9.9`, /the versions here are: 4\.0\.1$/],
		[`ValueSet/$expand?url=${genders}&valueSetVersion=9.9`, /4\.0\.1$/],
		[`ValueSet/$expand?url=${genders}|4.0.1&valueSetVersion=9.9`, /4\.0\.1$/],
		[`ValueSet/$validate-code?url=${genders}|9.9&code=male`, /4\.0\.1$/],
		[`CodeSystem/$lookup?system=${gender}&version=9.9&code=male`, /4\.0\.1$/],
		[`CodeSystem/$validate-code?url=${gender}&version=4.0.10&code=male`, /4\.0\.1$/],
		[`CodeSystem/$lookup?system=${ward}&version=2&code=N1`, /are: 1$/],
		[`ValueSet/$expand?url=${wardSet}|1`, /are: one without a version$/],
	];
	for (const [path, there] of others) {
		test(`names those that are here: ${path.replaceAll(/https?:[^|&]*\//g, '')}`, async () => {
			const reply = await west('GET', `/${path}`);
			assert.deepEqual(failed(reply), [404, 'OperationOutcome', 'not-found'], reply.text);
			assert.match(reply.body.issue[0].diagnostics, there);
		});
	}

	test('answers for the version that is here, whole or by its first numbers', async () => {
		for (const path of [
			`ValueSet/$expand?url=${genders}|4.0.1`,
			`ValueSet/$expand?url=${genders}&valueSetVersion=4.0`,
			`ValueSet/$validate-code?url=${genders}|4&code=male`,
			`CodeSystem/$lookup?system=${gender}&version=4.0.1&code=male`,
			`CodeSystem/$validate-code?url=${ward}&version=1&code=N1`,
		]) {
			assert.equal((await west('GET', `/${path}`)).status, 200, path);
		}
	});
});

describe('$lookup and $validate-code', () => {
	test('tell the display of a code, and its place', async () => {
		const found = await west('GET', `/CodeSystem/$lookup?system=${gender}&code=female`);
		assert.deepEqual([partOf(found, 'display'), partOf(found, 'name')], ['Female', 'AdministrativeGender']);
		const own = await west('POST', '/CodeSystem/$lookup', parameters({ name: 'coding', valueCoding: { system: ward, code: 'N1' } }));
		assert.deepEqual([partOf(own, 'display'), own.body.parameter.at(-1).part[1].valueCode], ['North 1', 'house']);
		assert.deepEqual(failed(await west('GET', `/CodeSystem/$lookup?system=${gender}&code=x`)), [404, 'OperationOutcome', 'not-found']);
		assert.deepEqual(failed(await east('GET', `/CodeSystem/$lookup?system=${ward}&code=N1`)), [404, 'OperationOutcome', 'not-found']);
	});

	test('tell whether a value set has a code', async () => {
		const ask = (query: string) => west('GET', `/ValueSet/$validate-code?url=${query}`);
		assert.deepEqual(partOf(await ask(`${genders}&system=${gender}&code=male`), 'result'), true);
		assert.deepEqual(partOf(await ask(`${genders}&code=male`), 'result'), true);
		const not = await ask(`${genders}&system=${gender}&code=m`);
		assert.deepEqual([partOf(not, 'result'), partOf(not, 'message')], [false, 'the value set has no such code']);
		assert.deepEqual(partOf(await ask(`${genders}&system=${gender}&code=male&display=Female`), 'result'), false);
		const concept = { coding: [{ system: ward, code: 'garden' }] };
		const body = parameters({ name: 'url', valueUri: wardSet }, { name: 'codeableConcept', valueCodeableConcept: concept });
		assert.deepEqual(partOf(await west('POST', '/ValueSet/$validate-code', body), 'result'), false);
		const unlisted = 'http://hl7.org/fhir/ValueSet/observation-codes&system=http://loinc.org&code=718-7';
		assert.deepEqual(failed(await ask(unlisted)), [422, 'OperationOutcome', 'processing']);
	});

	test('tell whether a code system has a code', async () => {
		const ask = (query: string) => west('GET', `/CodeSystem/$validate-code?url=${query}`);
		assert.deepEqual(partOf(await ask(`${gender}&code=male`), 'result'), true);
		assert.deepEqual(partOf(await ask(`${gender}&code=m`), 'result'), false);
		assert.deepEqual(failed(await ask('http://loinc.org&code=718-7')), [404, 'OperationOutcome', 'not-found']);
	});
});

describe('value sets that include each other', () => {
	test('are refused where they make a circle, and evaluated once where they make a chain', async () => {
		const circle = 'urn:vs:circle';
		const valueSet = (url: string, ...include: object[]) => ({ resourceType: 'ValueSet', url, name: 'V', compose: { include } });
		const levels = Array.from({ length: 20 }, (_, level) => {
			const next = `urn:vs:${level + 1}`;
			const part = level === 19 ? { system: ward, concept: [{ code: 'N1' }] } : { valueSet: [next, `${next}|1`, `${next}|2`] };
			return valueSet(`urn:vs:${level}`, part);
		});
		const sets = [valueSet(circle, { valueSet: [circle, circle, circle] }), ...levels];
		const packed = fhirPackage(Object.fromEntries(sets.map((set, index) => [`package/ValueSet-${index}.json`, set])));
		await addProfiles(service.administration, { site: 'west', file: packed.toString('base64') });
		const inCircle = await west('GET', `/ValueSet/$expand?url=${circle}`);
		assert.deepEqual(failed(inCircle), [422, 'OperationOutcome', 'processing']);
		assert.match(inCircle.text, /includes itself/);
		const isIn = await west('GET', `/ValueSet/$validate-code?url=${circle}&system=${ward}&code=N1`);
		assert.deepEqual(failed(isIn), [422, 'OperationOutcome', 'processing']);
		assert.deepEqual(failed(await west('GET', `/Observation?code:in=${circle}`)), [400, 'OperationOutcome', 'not-supported']);
		assert.deepEqual(codes(await west('GET', '/ValueSet/$expand?url=urn:vs:0')), ['N1']);
		const inChain = await west('GET', `/ValueSet/$validate-code?url=urn:vs:0&system=${ward}&code=N1`);
		assert.deepEqual(partOf(inChain, 'result'), true);
		assert.equal((await west('GET', '/Observation?code:in=urn:vs:0')).status, 200);
	});
});

describe('a search', () => {
	test('finds codes by value sets and hierarchies', async () => {
		for (const code of ['house', 'N1', 'N2', 'garden']) {
			await west('POST', '/Observation', { resourceType: 'Observation', status: 'final', code: { coding: [{ system: ward, code }] } });
		}
		const search = async (query: string) => {
			const reply = await west('GET', `/Observation?${query}`);
			assert.equal(reply.status, 200, reply.text);
			return (
				reply.body.entry
					?.map((entry: { resource: { code: { coding: { code: string }[] } } }) => entry.resource.code.coding[0]?.code)
					.sort() ?? []
			);
		};
		assert.deepEqual(await search(`code:in=${wardSet}`), ['N1', 'N2']);
		assert.deepEqual(await search(`code:not-in=${wardSet}`), ['garden', 'house']);
		assert.deepEqual(await search(`code:below=${ward}|house`), ['N1', 'N2', 'house']);
		assert.deepEqual(await search(`code:above=${ward}|N1`), ['N1', 'house']);
		assert.deepEqual(await search(`code:in=${genders}`), []);
		assert.deepEqual((await search('status:in=http://hl7.org/fhir/ValueSet/observation-status')).length, 4);
		assert.deepEqual(failed(await west('GET', '/Observation?code:in=urn:none')), [400, 'OperationOutcome', 'not-supported']);
		assert.deepEqual(failed(await west('GET', '/Observation?code:below=house')), [400, 'OperationOutcome', 'not-supported']);
		assert.deepEqual(failed(await east('GET', `/Observation?code:in=${wardSet}`)), [400, 'OperationOutcome', 'not-supported']);
		assert.deepEqual(failed(await west('GET', `/Observation?identifier:in=${wardSet}`)), [400, 'OperationOutcome', 'not-supported']);
	});

	test('and the operations are declared', async () => {
		const { body } = await west('GET', '/metadata');
		const declared = (type: string) =>
			body.rest[0].resource
				.find((resource: { type: string }) => resource.type === type)
				?.operation.map(({ name }: { name: string }) => name);
		assert.deepEqual(
			declared('ValueSet')?.filter((name: string) => name !== 'validate'),
			['expand', 'validate-code'],
		);
		assert.deepEqual(
			declared('CodeSystem')?.filter((name: string) => name !== 'validate'),
			['lookup', 'validate-code'],
		);
	});
});

describe('a condition of a write', () => {
	const practitioner = (more: object) => ({
		resourceType: 'Basic',
		code: { coding: [{ system: ward, code: 'N1' }] },
		...more,
	});
	const inWards = `code:in=${wardSet}`;

	test('finds by value sets and hierarchies, as a search does', async () => {
		const created = await west('POST', '/Basic', practitioner({}), { 'If-None-Exist': inWards });
		const { id } = created.body;
		const again = await west('POST', '/Basic', practitioner({}), { 'If-None-Exist': `code:below=${ward}|house` });
		assert.deepEqual([created.status, again.status, again.body.id], [201, 200, id]);
		const updated = await west('PUT', `/Basic?${inWards}`, practitioner({ created: '2024-01-01' }));
		assert.deepEqual([updated.status, updated.body.id, updated.body.created], [200, id, '2024-01-01']);
		const patched = await west('PATCH', `/Basic?${inWards}`, [{ op: 'replace', path: '/created', value: '2024-01-02' }]);
		assert.deepEqual([patched.status, patched.body.id, patched.body.created], [200, id, '2024-01-02']);
		const entry = [
			{ resource: practitioner({}), request: { method: 'POST', url: 'Basic', ifNoneExist: inWards } },
			{
				fullUrl: 'urn:uuid:9e1b4a0c-0000-4000-8000-000000000001',
				resource: {
					resourceType: 'Flag',
					status: 'active',
					code: { text: 'flag' },
					subject: { display: 'x' },
					author: { reference: `Device?type:in=${wardSet}` },
				},
				request: { method: 'POST', url: 'Flag' },
			},
		];
		await west('POST', '/Device', { resourceType: 'Device', id: 'd', type: { coding: [{ system: ward, code: 'N2' }] } });
		const bundle = await west('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
		assert.deepEqual(
			bundle.body.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3)),
			['200', '201'],
			bundle.text,
		);
		assert.match(bundle.body.entry[1].resource.author.reference, /^Device\//);
		const unknown = await east('POST', '/Basic', practitioner({}), { 'If-None-Exist': inWards });
		assert.deepEqual(failed(unknown), [400, 'OperationOutcome', 'not-supported']);
	});

	test('names resources by the address of this service, too', async () => {
		const patient = await west('POST', '/Patient', { resourceType: 'Patient' });
		const address = `http://127.0.0.1:${service.port('fhir')}/fhir/Patient/${patient.body.id}`;
		const body = practitioner({ subject: { reference: `Patient/${patient.body.id}` } });
		const first = await west('POST', '/Basic', body, { 'If-None-Exist': `subject=${address}` });
		const second = await west('POST', '/Basic', body, { 'If-None-Exist': `subject=${address}` });
		assert.deepEqual([first.status, second.status], [201, 200]);
	});

	test('of a patch is refused if it matches nothing, or several', async () => {
		const patch = [{ op: 'replace', path: '/created', value: '2024-01-02' }];
		assert.deepEqual(failed(await west('PATCH', '/Basic?identifier=nobody', patch)), [404, 'OperationOutcome', 'not-found']);
		for (const _ of [1, 2]) await west('POST', '/Basic', practitioner({ identifier: [{ value: 'twin' }] }));
		assert.equal((await west('PATCH', '/Basic?identifier=twin', patch)).status, 412);
		assert.equal((await west('PATCH', '/Basic', patch)).status, 400);
	});
});
