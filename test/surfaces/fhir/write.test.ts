import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { newId } from '#core/id.ts';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

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

const patient = (more: object = {}) => ({ resourceType: 'Patient', name: [{ text: 'Anna Example' }], ...more });
const observation = (reference: string, more: object = {}) => ({
	resourceType: 'Observation',
	status: 'final',
	code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
	subject: { reference },
	...more,
});
const mrn = (value: string) => ({ identifier: [{ system: 'urn:mrn', value }] });

function assertOutcome(reply: FhirReply, status: number, code: string, expression?: string): void {
	assert.equal(reply.status, status, reply.text);
	assert.equal(reply.body.resourceType, 'OperationOutcome');
	const [issue] = reply.body.issue;
	assert.equal(issue.severity, 'error');
	assert.equal(issue.code, code, reply.text);
	assert.ok(issue.diagnostics.length > 0);
	if (expression !== undefined) assert.equal(issue.expression?.[0], expression, reply.text);
}

const versionOf = (reply: FhirReply) => reply.body.meta.versionId;

describe('create', () => {
	test('assigns an id, whatever the body says, and answers with version, time and place', async () => {
		const reply = await west('POST', '/Patient', patient({ id: 'mine', gender: 'female' }));
		assert.equal(reply.status, 201);
		const { id, meta } = reply.body;
		assert.notEqual(id, 'mine');
		assert.equal(meta.versionId, '1');
		assert.match(meta.source, /^urn:tributary:fhir:/);
		assert.equal(reply.headers.get('etag'), 'W/"1"');
		assert.equal(new Date(reply.headers.get('last-modified') ?? '').getTime(), Math.floor(Date.parse(meta.lastUpdated) / 1000) * 1000);
		assert.equal(reply.headers.get('location'), `http://127.0.0.1:${service.port('fhir')}/fhir/Patient/${id}/_history/1`);
		assert.equal((await west('GET', `/Patient/${id}`)).text, reply.text);
		assert.equal((await east('GET', `/Patient/${id}`)).status, 404);
	});

	test('gives every element and digit back as it came', async () => {
		const text =
			'{"resourceType":"Patient","extension":[{"url":"urn:weight","valueDecimal":1.00}],"_birthDate":{"extension":[{"url":"urn:time","valueInstant":"1970-05-17T01:02:03.000Z"}]},"birthDate":"1970-05-17","contained":[{"resourceType":"Organization","id":"o","name":"Clinic"}],"managingOrganization":{"reference":"#o"},"name":[{"given":["A",null],"_given":[null,{"extension":[{"url":"urn:x","valueCode":"a"}]}]}],"multipleBirthInteger":2}';
		const reply = await west('POST', '/Patient', text);
		assert.equal(reply.status, 201, reply.text);
		assert.ok((await west('GET', `/Patient/${reply.body.id}`)).text.endsWith(text.slice('{"resourceType":"Patient",'.length)));
	});

	test('keeps what the client says in meta beside version and time', async () => {
		const meta = {
			profile: ['http://example.org/p'],
			tag: [{ code: 't' }],
			source: 'urn:theirs',
			versionId: '9',
			lastUpdated: '2000-01-01T00:00:00Z',
		};
		const { body } = await west('POST', '/Patient', patient({ meta }));
		const { profile, tag, source, versionId } = body.meta;
		assert.deepEqual({ profile, tag, source, versionId }, { profile: meta.profile, tag: meta.tag, source: 'urn:theirs', versionId: '1' });
	});

	test('refuses what refers to a patient that the site does not have, unless the site says otherwise', async () => {
		const theirs = (await east('POST', '/Patient', patient())).body.id;
		for (const reference of ['Patient/none', `Patient/${newId()}`, `Patient/${theirs}`]) {
			assertOutcome(await west('POST', '/Observation', observation(reference)), 422, 'not-found', 'Observation.subject.reference');
		}
		const deep = patient({ link: [{ other: { reference: 'Patient/none' }, type: 'seealso' }] });
		assertOutcome(await west('POST', '/Patient', deep), 422, 'not-found', 'Patient.link[0].other.reference');
		const { key } = await service.addSite('loose');
		await setSite(service.administration, { slug: 'loose', check_references: false });
		const loose = fhirClient(service, key);
		await eventually(async () => (await loose('POST', '/Observation', observation('Patient/none'))).status === 201, 'the relaxed rule');
		assert.equal((await loose('GET', '/Observation?patient=none')).body.entry.length >= 1, true);
	});

	test('finds what was written at once, by columns that follow the content', async () => {
		const { id } = (await west('POST', '/Patient', patient({ ...mrn('c1'), birthDate: '1950-02-03', gender: 'male' }))).body;
		for (const query of ['identifier=urn:mrn|c1', 'name=ANNA&identifier=c1', 'birthdate=1950-02-03', `gender=male&_id=${id}`]) {
			assert.deepEqual(
				(await west('GET', `/Patient?${query}`)).body.entry.map((entry: FhirBody) => entry.resource.id),
				[id],
				query,
			);
		}
		const result = (await west('POST', '/Observation', observation(`Patient/${id}`))).body.id;
		assert.equal((await west('GET', `/Observation?patient=Patient/${id}&code=718-7`)).body.entry[0].resource.id, result);
	});
});

describe('update', () => {
	test('makes a new version; the same content, in whatever order, makes none', async () => {
		const { id } = (await west('POST', '/Patient', patient({ gender: 'male' }))).body;
		const second = await west('PUT', `/Patient/${id}`, patient({ id, gender: 'female' }));
		assert.equal(second.status, 200);
		assert.equal(versionOf(second), '2');
		const again = await west('PUT', `/Patient/${id}`, patient({ id, gender: 'female' }));
		assert.deepEqual(again.body, second.body);
		const reordered = { gender: 'female', id, name: [{ text: 'Anna Example' }], resourceType: 'Patient' };
		assert.equal(versionOf(await west('PUT', `/Patient/${id}`, reordered)), '2');
		assert.equal(versionOf(await west('PUT', `/Patient/${id}`, patient({ gender: 'female', active: false }))), '3');
	});

	test('under an id that is free creates the resource there, and under no other', async () => {
		const created = await west('PUT', '/Patient/A-1.b', patient());
		assert.equal(created.status, 201);
		assert.equal(created.body.id, 'A-1.b');
		assert.equal((await west('GET', '/Patient/A-1.b')).body.id, 'A-1.b');
		assert.equal((await west('GET', '/Patient/a-1.b')).status, 404);
		assert.equal((await east('GET', '/Patient/A-1.b')).status, 404);
		assert.equal((await east('PUT', '/Patient/A-1.b', patient())).status, 201);
		assert.equal((await west('GET', '/Patient?_id=A-1.b')).body.entry.length, 1);
		assertOutcome(await west('PUT', '/Patient/A-1.b', patient({ id: 'other' })), 400, 'invalid', 'Patient.id');
		assertOutcome(await west('PUT', '/Patient/not_an_id', patient()), 400, 'invalid');
		assertOutcome(await west('PUT', `/Patient/${'x'.repeat(65)}`, patient()), 400, 'invalid');
		const { body } = await west('POST', '/Observation', observation('Patient/A-1.b'));
		assert.equal((await west('GET', '/Observation?patient=A-1.b')).body.entry[0].resource.id, body.id);
		assert.equal((await east('GET', '/Observation?patient=A-1.b')).body.entry, undefined);
	});

	test('creates nothing where the site assigns all ids', async () => {
		const { key } = await service.addSite('assigning');
		await setSite(service.administration, { slug: 'assigning', update_creates: false });
		const call = fhirClient(service, key);
		await eventually(async () => (await call('PUT', `/Patient/${newId()}`, patient())).status === 405, 'the stricter rule');
		assertOutcome(await call('PUT', '/Patient/new', patient()), 405, 'not-supported');
		const { id } = (await call('POST', '/Patient', patient())).body;
		assert.equal((await call('PUT', `/Patient/${id}`, patient({ gender: 'male' }))).status, 200);
	});

	test('with If-Match takes the version that it names and no other', async () => {
		const { id } = (await west('POST', '/Patient', patient())).body;
		const put = (gender: string, tag: string) => west('PUT', `/Patient/${id}`, patient({ gender }), { 'If-Match': tag });
		assertOutcome(await put('male', 'W/"2"'), 412, 'conflict');
		assert.equal((await put('male', 'W/"1"')).status, 200);
		assertOutcome(await put('female', 'W/"1"'), 412, 'conflict');
		assert.equal((await put('female', 'W/"1", W/"2"')).status, 200);
		assertOutcome(await put('male', 'nonsense here'), 400, 'invalid');
		assertOutcome(await west('PUT', `/Patient/${newId()}`, patient(), { 'If-Match': 'W/"1"' }), 412, 'conflict');
		assertOutcome(await west('PUT', `/Patient/${id}`, patient(), { 'If-None-Match': '*' }), 412, 'conflict');
		const race = await Promise.all(Array.from({ length: 16 }, (_, n) => put('other', 'W/"3"').then(({ status }) => [n, status])));
		assert.deepEqual(race.map(([, status]) => status).sort(), [200, ...new Array(15).fill(412)]);
	});

	test('a resource that was read in part is not taken back', async () => {
		const { id } = (await west('POST', '/Patient', patient())).body;
		const tag = [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' }];
		assertOutcome(await west('PUT', `/Patient/${id}`, patient({ meta: { tag } })), 422, 'business-rule', 'Patient.meta.tag');
	});
});

describe('conditions', () => {
	test('a conditional create makes one of 64 at once, on the other 63 it answers what there is', async () => {
		for (let round = 0; round < 3; round++) {
			const condition = { 'If-None-Exist': `identifier=urn:mrn|race-${round}` };
			const replies = await Promise.all(
				Array.from({ length: 64 }, () => west('POST', '/Patient', patient(mrn(`race-${round}`)), condition)),
			);
			assert.deepEqual(replies.map(({ status }) => status).sort(), [...new Array(63).fill(200), 201]);
			assert.equal(new Set(replies.map(({ body }) => body.id)).size, 1);
			assert.equal((await west('GET', `/Patient?identifier=urn:mrn|race-${round}`)).body.total, 1);
		}
	});

	test('a conditional update creates, updates, and refuses several', async () => {
		const put = (more: object) => west('PUT', '/Patient?identifier=urn:mrn|cu', patient({ ...mrn('cu'), ...more }));
		const replies = await Promise.all(Array.from({ length: 64 }, (_, n) => put({ multipleBirthInteger: n })));
		assert.deepEqual(replies.map(({ status }) => status).sort(), [...new Array(63).fill(200), 201]);
		const { id } = replies[0]?.body ?? assert.fail();
		assert.equal((await west('GET', `/Patient/${id}`)).body.meta.versionId, '64');
		assertOutcome(await put({ id: 'another' }), 400, 'invalid', 'Patient.id');
		assert.equal((await put({ id, gender: 'male' })).status, 200);
		await west('POST', '/Patient', patient(mrn('cu')));
		assertOutcome(await put({}), 412, 'multiple-matches');
		assertOutcome(await west('POST', '/Patient', patient(), { 'If-None-Exist': 'identifier=cu' }), 412, 'multiple-matches');
		assert.equal((await west('PUT', '/Patient?identifier=urn:mrn|chosen', patient({ id: 'chosen', ...mrn('chosen') }))).body.id, 'chosen');
	});

	test('that matches nothing does not write to a resource that has the id of the body', async () => {
		const alice = patient({ id: 'taken', ...mrn('taken') });
		assert.equal((await west('PUT', '/Patient/taken', alice)).status, 201);
		const bob = patient({ id: 'taken', gender: 'male', ...mrn('not-taken') });
		assertOutcome(await west('PUT', '/Patient?identifier=urn:mrn|not-taken', bob), 409, 'conflict', 'Patient.id');
		assert.equal((await west('GET', '/Patient/taken')).body.meta.versionId, '1');
		const race = await Promise.all(
			Array.from({ length: 12 }, (_, n) =>
				west('PUT', `/Patient?identifier=urn:mrn|contested-${n}`, patient({ id: 'raced', ...mrn(`contested-${n}`) })).then(
					({ status }) => status,
				),
			),
		);
		assert.deepEqual(race.sort(), [201, ...new Array(11).fill(409)]);
	});

	test('a condition that selects nothing, or not at all, is refused', async () => {
		assertOutcome(await west('PUT', '/Patient?_count=1', patient()), 412, 'multiple-matches');
		assertOutcome(await west('POST', '/Patient', patient(), { 'If-None-Exist': 'nothing=1' }), 400, 'not-supported');
		assertOutcome(await west('PUT', '/Patient', patient()), 400, 'invalid');
	});

	test('never sees another site', async () => {
		await east('POST', '/Patient', patient(mrn('shared')));
		assert.equal((await west('POST', '/Patient', patient(mrn('shared')), { 'If-None-Exist': 'identifier=urn:mrn|shared' })).status, 201);
	});
});

describe('patch', () => {
	test('changes what it names and keeps the rest with its digits', async () => {
		const text =
			'{"resourceType":"Observation","status":"preliminary","code":{"text":"x"},"valueQuantity":{"value":1.50},"referenceRange":[{"low":{"value":-0}}]}';
		const { id } = (await west('POST', '/Observation', text)).body;
		const reply = await west('PATCH', `/Observation/${id}`, [
			{ op: 'test', path: '/status', value: 'preliminary' },
			{ op: 'replace', path: '/status', value: 'final' },
			{ op: 'add', path: '/note', value: [{ text: 'seen' }] },
		]);
		assert.equal(reply.status, 200, reply.text);
		assert.ok(reply.text.includes('"value":1.50') && reply.text.includes('"value":-0}'));
		assert.equal(reply.body.status, 'final');
		assert.equal(versionOf(reply), '2');
	});

	test('that does not fit, leaves no valid resource, or renames it is refused whole', async () => {
		const { id } = (await west('POST', '/Patient', patient({ gender: 'male' }))).body;
		const cases: [object[] | string, number][] = [
			[[{ op: 'test', path: '/gender', value: 'female' }], 422],
			[[{ op: 'remove', path: '/birthDate' }], 422],
			[[{ op: 'replace', path: '/id', value: 'x' }], 422],
			[[{ op: 'add', path: '/__proto__', value: {} }], 422],
			[[{ op: 'add', path: 'gender', value: 1 }], 400],
			[[{ op: 'fly', path: '/gender' }], 400],
			['{"op":"remove"}', 400],
			['nonsense', 400],
		];
		for (const [body, status] of cases) assert.equal((await west('PATCH', `/Patient/${id}`, body)).status, status, JSON.stringify(body));
		assert.equal((await west('GET', `/Patient/${id}`)).body.meta.versionId, '1');
		assertOutcome(await west('PATCH', `/Patient/${newId()}`, []), 404, 'not-found');
		assertOutcome(await east('PATCH', `/Patient/${id}`, []), 404, 'not-found');
		assertOutcome(
			await west('PATCH', `/Patient/${id}`, [
				{ op: 'add', path: '/link', value: [{ other: { reference: 'Patient/none' }, type: 'seealso' }] },
			]),
			422,
			'not-found',
		);
		assertOutcome(await west('PATCH', `/Patient/${id}`, [], { 'If-Match': 'W/"7"' }), 412, 'conflict');
		assert.equal((await west('PATCH', `/Patient/${id}`, '[]', { 'Content-Type': 'application/fhir+json' })).status, 415);
	});
});

describe('what the answer carries', () => {
	test('Prefer decides', async () => {
		const minimal = await west('POST', '/Patient', patient(), { Prefer: 'return=minimal' });
		assert.equal(minimal.status, 201);
		assert.equal(minimal.text, '');
		assert.match(minimal.headers.get('location') ?? '', /_history\/1$/);
		const outcome = await west('POST', '/Patient', patient(), { Prefer: 'return=OperationOutcome' });
		assert.equal(outcome.status, 201);
		assert.equal(outcome.body.resourceType, 'OperationOutcome');
		assert.equal((await west('POST', '/Patient', patient(), { Prefer: 'return=representation' })).body.resourceType, 'Patient');
	});
});

describe('what is refused', () => {
	test('bodies, media types, resource types and methods, each with its status', async () => {
		assertOutcome(await west('POST', '/Patient', '{'), 400, 'invalid');
		assertOutcome(await west('POST', '/Patient', '[]'), 400, 'invalid');
		assertOutcome(await west('POST', '/Patient', ''), 400, 'invalid');
		assertOutcome(await west('POST', '/Patient', observation('Patient/x')), 400, 'invalid', 'resourceType');
		assertOutcome(await west('POST', '/Patient', patient(), { 'Content-Type': 'text/plain' }), 415, 'not-supported');
		assertOutcome(
			await west('POST', '/Patient', patient(), { 'Content-Type': 'application/fhir+json; fhirVersion=5.0' }),
			415,
			'not-supported',
		);
		assertOutcome(await west('POST', '/Nothing', patient()), 404, 'not-supported');
		for (const type of ['DiagnosticReport', 'ImagingStudy']) {
			const reply = await west('POST', `/${type}`, { resourceType: type });
			assertOutcome(reply, 405, 'not-supported');
			assert.equal(reply.headers.get('allow'), 'GET, HEAD');
			assertOutcome(await west('PUT', `/${type}/1`, { resourceType: type, id: '1' }), 405, 'not-supported');
		}
		for (const path of ['/Patient/1', '/Condition/1', '/DiagnosticReport/1']) assert.equal((await west('DELETE', path)).status, 405);
		assert.equal((await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient`, { method: 'POST', body: '{}' })).status, 401);
	});

	test('is in the log with its reason, can be replayed, and names no value', async () => {
		const [before] = await service.rows<{ count: string }>('select count(*) from message_log');
		assert.equal((await west('POST', '/Observation', observation('Patient/secret-name'))).status, 422);
		const rows = await service.rows<FhirBody>("select * from message_log where surface = 'fhir' order by id desc limit 1");
		assert.equal(rows[0].outcome, 'refused');
		assert.equal(rows[0].message_type, 'POST Observation');
		assert.equal(rows[0].failure_code, 'unknown-key');
		assert.doesNotMatch(rows[0].failure, /secret/);
		assert.match(rows[0].bytes.toString(), /^POST Observation\r\n/);
		const [logged] = await service.rows<{ count: string }>('select count(*) from message_log');
		assert.equal(Number(logged?.count), Number(before?.count) + 1);
	});
});

test('a NUL never reaches the record, by whatever element it comes', async () => {
	const texts = [
		'{"resourceType":"Patient","extension":[{"url":"urn:\\u0000","valueCode":"a"}]}',
		'{"resourceType":"Patient","name":[{"id":"a\\u0000","family":"X"}]}',
		'{"resourceType":"Patient","name":[{"family":"a\\u0000b"}]}',
	];
	for (const text of texts) assertOutcome(await west('POST', '/Patient', text), 400, 'value');
	assert.equal((await west('POST', '/Patient', '{"resourceType":"Patient","name":[{"family":"back\\\\u0000slash"}]}')).status, 201);
	assert.equal((await west('GET', '/Patient?active=true&address-city=x')).status, 200);
	assert.equal((await west('GET', '/Patient?name=back%5C%5Cu0000')).body.total, 1);
});

describe('what a patch leaves behind', () => {
	test('a change of the same length is a change, and lists are not filled twice', async () => {
		const { id } = (await west('POST', '/Patient', { resourceType: 'Patient', name: [{ text: 'Smith' }] })).body;
		const same = await west('PATCH', `/Patient/${id}`, [{ op: 'replace', path: '/name/0/text', value: 'Jones' }]);
		assert.deepEqual([same.body.name[0].text, versionOf(same)], ['Jones', '2']);
		const list = await west('PATCH', `/Patient/${id}`, [
			{ op: 'add', path: '/telecom', value: [] },
			{ op: 'add', path: '/telecom/-', value: { system: 'phone', value: '1' } },
		]);
		assert.equal(list.body.telecom.length, 1, list.text);
		const race = await Promise.all(
			Array.from({ length: 16 }, (_, n) =>
				west('PATCH', `/Patient/${id}`, [{ op: 'replace', path: '/name/0/text', value: `Jon${n + 10}` }], { 'If-Match': 'W/"3"' }),
			),
		);
		assert.deepEqual(race.map(({ status }) => status).sort(), [200, ...new Array(15).fill(412)]);
	});

	test('is bounded, however often it copies itself', async () => {
		const extension = [{ url: 'urn:a', extension: [{ url: 'urn:b', valueCode: 'c' }] }];
		const { id } = (await west('POST', '/Patient', { resourceType: 'Patient', extension })).body;
		const copies = Array.from({ length: 30 }, (_, n) => ({ op: 'copy', from: '/extension', path: `/extension/0/e${n}` }));
		const reply = await west('PATCH', `/Patient/${id}`, copies);
		assert.ok([400, 413, 422].includes(reply.status), reply.text.slice(0, 300));
		assert.equal((await west('PATCH', `/Patient/${id}`, '[],"x":[1]')).status, 400);
	});
});

test('parameters that shape the answer shape that of a write', async () => {
	assert.equal((await west('PUT', '/Patient/shaped?_format=json', patient({ id: 'shaped' }))).status, 201);
	assert.equal((await west('POST', '/Patient?_pretty=true', patient())).status, 201);
});

test('a refused entry of a batch is replayed by itself', async () => {
	const entry = [
		{ resource: patient(), request: { method: 'POST', url: 'Patient' } },
		{
			resource: { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/later' } },
			request: { method: 'POST', url: 'Observation' },
		},
		{
			resource: { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/never' } },
			request: { method: 'POST', url: 'Observation' },
		},
	];
	const reply = await west('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
	assert.deepEqual(
		reply.body.entry.map(({ response }: FhirBody) => response.status.slice(0, 3)),
		['201', '422', '422'],
	);
	const rows = await service.rows<FhirBody>(
		"select message_type, bytes from message_log where surface = 'fhir' and message_type = 'POST Observation' order by id desc limit 2",
	);
	assert.equal(rows.length, 2);
	for (const row of rows) {
		assert.match(row.bytes.toString(), /^POST Observation\r\n[\s\S]*"resourceType":"Observation"/);
		assert.doesNotMatch(row.bytes.toString(), /Bundle/);
	}
});
