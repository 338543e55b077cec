import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

/**
 * The behaviours that other FHIR servers are driven by in their pipelines, those of samply/blaze (`.github/scripts`) first, in our own words. Where
 * this service means to behave otherwise, the test says so.
 */

let service: TestService;
let fhir: FhirCall;

before(async () => {
	service = await testService();
	fhir = fhirClient(service, (await service.addSite('west')).key);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

async function created(resource: FhirBody): Promise<FhirBody> {
	const { status, body, text } = await fhir('POST', `/${resource.resourceType}`, resource);
	assert.equal(status, 201, text);
	return body;
}

const patient = (more: object = {}): FhirBody => ({ resourceType: 'Patient', ...more });
const observation = (subject: string, more: object = {}): FhirBody => ({
	resourceType: 'Observation',
	status: 'final',
	code: { text: 'Body temperature' },
	subject: { reference: `Patient/${subject}` },
	...more,
});

const entry = (method: string, url: string, resource?: FhirBody, more: object = {}) => ({
	...(resource === undefined ? {} : { resource }),
	request: { method, url, ...more },
});
const bundle = (type: string, ...entries: object[]): Promise<FhirReply> =>
	fhir('POST', '', { resourceType: 'Bundle', type, entry: entries });

const statuses = ({ body }: FhirReply) => body.entry.map((one: FhirBody) => one.response.status.slice(0, 3));
const idsOf = (page: FhirBody): string[] => (page.entry ?? []).map((one: FhirBody) => one.resource.id);
const linkOf = (page: FhirBody, relation: string): string | undefined =>
	page.link.find((link: FhirBody) => link.relation === relation)?.url.split('/fhir')[1];

/** Follows a search to its end, as a download does. */
async function pages(path: string): Promise<FhirBody[]> {
	const found: FhirBody[] = [];
	for (let next: string | undefined = path; next !== undefined; ) {
		const { status, body, text }: FhirReply = await fhir('GET', next);
		assert.equal(status, 200, text);
		found.push(body);
		next = linkOf(body, 'next');
	}
	return found;
}

describe('writing', () => {
	test('a conditional create makes one resource, whether it comes alone or in transactions', async () => {
		const identifier = { system: 'https://example.com/fhir/NamingSystem/organization', value: '190723' };
		const organization = { resourceType: 'Organization', identifier: [identifier] };
		const criteria = { ifNoneExist: `identifier=${identifier.system}|${identifier.value}` };
		const ask = () => bundle('transaction', entry('POST', 'Organization', organization, criteria));
		assert.deepEqual(statuses(await ask()), ['201']);
		assert.deepEqual(statuses(await ask()), ['200']);
		const alone = await fhir('POST', '/Organization', organization, { 'If-None-Exist': criteria.ifNoneExist });
		assert.equal(alone.status, 200);
		assert.equal((await fhir('GET', `/Organization?${criteria.ifNoneExist}`)).body.entry.length, 1);
	});

	test('If-None-Match: * keeps an update from replacing anything', async () => {
		const { id } = await created(patient());
		const refused = await fhir('PUT', `/Patient/${id}`, patient({ id }), { 'If-None-Match': '*' });
		assert.equal(refused.status, 412);
		assert.deepEqual([refused.body.resourceType, refused.body.issue[0].severity], ['OperationOutcome', 'error']);
	});

	test('an update that changes nothing makes no version, alone and in a transaction', async () => {
		const body = await created(patient({ gender: 'other', name: [{ family: 'Same' }] }));
		const again = await fhir('PUT', `/Patient/${body.id}`, body);
		assert.deepEqual([again.status, again.body.meta.versionId], [200, '1']);
		const { body: answer } = await bundle('transaction', entry('PUT', `Patient/${body.id}`, body));
		assert.equal(answer.entry[0].response.etag, 'W/"1"');
		assert.equal((await fhir('GET', `/Patient/${body.id}/_history`)).body.entry.length, 1);
	});

	test('a transaction reads and writes, and reads what it has written', async () => {
		const id = randomUUID();
		const reply = await bundle('transaction', entry('PUT', `Patient/${id}`, patient({ id })), entry('GET', `Patient/${id}`));
		assert.equal(reply.body.type, 'transaction-response');
		assert.deepEqual(statuses(reply), ['201', '200']);
		assert.equal(reply.body.entry[1].resource.id, id);
	});

	test('references within a transaction follow the full URLs of its entries, also relative ones', async () => {
		const full = (url: string, one: object) => ({ fullUrl: url, ...one });
		const ofPatient = (reference: string) => observation('x', { subject: { reference } });
		const foreign = await bundle(
			'transaction',
			full('http://example.com/fhir/Patient/0', entry('POST', 'Patient', patient())),
			full('http://example.com/fhir/Observation/0', entry('POST', 'Observation', ofPatient('Patient/0'))),
		);
		const urn = `urn:uuid:${randomUUID()}`;
		const named = await bundle('transaction', entry('POST', 'Observation', ofPatient(urn)), full(urn, entry('POST', 'Patient', patient())));
		for (const [reply, at] of [
			[foreign, 0],
			[named, 1],
		] as const) {
			const id = reply.body.entry[at].response.location.split('/').at(-3);
			assert.equal((await fhir('GET', `/Observation?patient=${id}`)).body.entry.length, 1);
		}
	});

	test('a bad entry refuses the whole transaction, and says where it is', async () => {
		for (const bad of [{ resource: null }, entry('POST', 'Patient', patient({ birthDate: 'yesterday' }))]) {
			const family = randomUUID();
			const reply = await bundle('transaction', entry('POST', 'Patient', patient({ name: [{ family }] })), bad);
			assert.ok([400, 422].includes(reply.status), String(reply.status));
			assert.match(reply.body.issue[0].expression[0], /^Bundle\.entry\[1\]/);
			assert.equal((await fhir('GET', `/Patient?family=${family}`)).body.entry, undefined);
		}
	});

	test('a batch answers each entry for itself, and gives the CapabilityStatement', async () => {
		const { id } = await created(patient());
		const reply = await bundle(
			'batch',
			entry('GET', `Patient/${id}`),
			entry('GET', 'metadata'),
			entry('GET', 'Patient/none'),
			entry('POST', 'Patient', patient({ gender: 'nothing' })),
		);
		assert.equal(reply.body.type, 'batch-response');
		assert.deepEqual(statuses(reply).slice(0, 3), ['200', '200', '404']);
		assert.match(statuses(reply)[3], /^4/);
		assert.equal(reply.body.entry[1].resource.resourceType, 'CapabilityStatement');
	});

	test('a patch changes one element, and one that does not apply changes none', async () => {
		const { id } = await created(patient({ gender: 'male', name: [{ family: 'Patched' }] }));
		const patched = await fhir('PATCH', `/Patient/${id}`, [{ op: 'replace', path: '/gender', value: 'female' }]);
		assert.deepEqual([patched.status, patched.body.gender, patched.body.name[0].family], [200, 'female', 'Patched']);
		const failed = await fhir('PATCH', `/Patient/${id}`, [{ op: 'test', path: '/gender', value: 'male' }]);
		assert.equal(failed.status, 422);
		assert.equal((await fhir('GET', `/Patient/${id}`)).body.meta.versionId, '2');
	});

	test('old dates, contained resources of several types and long texts come back as they were sent', async () => {
		const old = await created(patient({ birthDate: '0962' }));
		assert.equal((await fhir('GET', `/Patient/${old.id}`)).body.birthDate, '0962');
		const contained = [
			{ resourceType: 'Organization', id: 'o', name: 'Ward', address: [{ city: 'X' }] },
			{ resourceType: 'Practitioner', id: 'p', gender: 'female' },
		];
		const one = await created(
			patient({ contained, generalPractitioner: [{ reference: '#p' }], managingOrganization: { reference: '#o' } }),
		);
		assert.deepEqual((await fhir('GET', `/Patient/${one.id}`)).body.contained, contained);
		const note = [{ text: 'ÄÖ€𝄞 '.repeat(20_000) }];
		const long = await created(observation(one.id, { note }));
		assert.deepEqual((await fhir('GET', `/Observation/${long.id}`)).body.note, note);
	});

	test('U+0000 in a text is refused, where others keep it: PostgreSQL has no text with it', async () => {
		const { id } = await created(patient());
		const reply = await fhir('POST', '/Observation', observation(id, { valueString: '\u0000' }));
		assert.ok([400, 422].includes(reply.status), String(reply.status));
		assert.equal(reply.body.resourceType, 'OperationOutcome');
	});

	test('an unknown parameter of a read does not change what is read', async () => {
		const { id } = await created(patient());
		assert.equal((await fhir('GET', `/Patient/${id}?__t=0`)).status, 200);
	});
});

describe('searching', () => {
	const family = `S${randomUUID()}`;
	const code = (value: string) => ({ code: { coding: [{ system: 'http://loinc.org', code: value }] } });
	const people: FhirBody[] = [];

	before(async () => {
		for (let index = 0; index < 7; index++) {
			const person = await created(patient({ name: [{ family, given: [`León${index}`] }], birthDate: `19${50 + index}-0${index + 1}-01` }));
			people.push(person);
			for (const [at, value] of ['8310-5', '8867-4'].entries())
				await created(observation(person.id, { ...code(value), effectiveDateTime: `2013-0${index + 1}-1${at}` }));
		}
	});

	test('pages have every match once, by GET and by POST, in any order, whatever is written meanwhile', async () => {
		for (const sort of ['', '&_sort=birthdate', '&_sort=-birthdate', '&_sort=-_lastUpdated']) {
			const found: string[] = [];
			for (let next: string | undefined = `/Patient?family=${family}${sort}&_count=2`; next !== undefined; ) {
				const { body } = await fhir('GET', next);
				assert.ok(idsOf(body).length <= 2);
				found.push(...idsOf(body));
				next = linkOf(body, 'next');
				await created(patient({ name: [{ family: 'Meanwhile' }] }));
			}
			assert.deepEqual([...found].sort(), people.map(({ id }) => id).sort(), sort);
			const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
			const { body: posted } = await fhir('POST', '/Patient/_search', `family=${family}${sort}&_count=100`, form);
			assert.deepEqual(idsOf(posted), found, sort);
		}
	});

	test('links are encoded, and self tells what was searched', async () => {
		const { body } = await fhir('GET', `/Patient?family=${family}&given=Le%C3%B3n3&_total=accurate`);
		assert.equal(body.total, 1);
		assert.match(linkOf(body, 'self') ?? '', /given=Le%C3%B3n3/);
		const either = await fhir('GET', `/Observation?code=8310-5,8867-4&patient.family=${family}&_summary=count`);
		assert.equal(either.body.total, 14);
		assert.match(linkOf(either.body, 'self') ?? '', /code=8310-5%2C8867-4/);
	});

	test('_summary and _elements leave out what they should, and count counts', async () => {
		for (const page of await pages(`/Observation?patient.family=${family}&_elements=subject&_count=5`)) {
			for (const { resource } of page.entry) {
				assert.notEqual(resource.subject.reference, undefined);
				assert.equal(resource.effectiveDateTime, undefined);
			}
		}
		const [summary] = await pages(`/Patient?family=${family}&_summary=true&_count=100`);
		assert.ok(summary?.entry.every(({ resource }: FhirBody) => resource.meta.tag[0].code === 'SUBSETTED'));
		const count = await fhir('GET', `/Patient?family=${family}&_summary=count`);
		assert.deepEqual([count.body.total, count.body.entry], [7, undefined]);
	});

	test('_include and _revinclude bring each resource once, on each page', async () => {
		const included = new Map<string, number>();
		for (const page of await pages(`/Patient?family=${family}&_count=1&_revinclude=Observation:subject`)) {
			assert.deepEqual(
				page.entry.map(({ search }: FhirBody) => search.mode),
				['match', 'include', 'include'],
			);
			for (const id of idsOf(page)) included.set(id, (included.get(id) ?? 0) + 1);
		}
		assert.equal(included.size, 21);
		assert.ok([...included.values()].every((times) => times === 1));
		const [page] = await pages(`/Observation?patient=${people[0].id}&_include=Observation:subject`);
		const modes = page?.entry.map(({ search }: FhirBody) => search.mode);
		assert.deepEqual(modes, ['match', 'match', 'include']);
	});

	test('chains, _has and compartments find the same', async () => {
		const id = people[2].id;
		for (const path of [
			`/Observation?patient=${id}`,
			`/Observation?subject=Patient/${id}`,
			`/Observation?patient.birthdate=1952-03-01&patient.family=${family}`,
			`/Patient/${id}/Observation`,
		])
			assert.equal((await fhir('GET', `${path}${path.includes('?') ? '&' : '?'}_summary=count`)).body.total, 2, path);
		const has = await fhir('GET', `/Patient?family=${family}&_has:Observation:patient:date=2013-03`);
		assert.deepEqual(idsOf(has.body), [id]);
	});

	test('the parts of a year add up to the year', async () => {
		const count = async (date: string) =>
			(await fhir('GET', `/Observation?patient.family=${family}&date=${date}&_summary=count`)).body.total;
		let months = 0;
		for (let month = 1; month <= 12; month++) months += await count(`2013-${String(month).padStart(2, '0')}`);
		assert.deepEqual([await count('2013'), months, await count('sa2012-12-31&date=eb2014-01-01')], [14, 14, 14]);
	});

	test('tags, sources, security labels, profiles and Lists select', async () => {
		const mark = randomUUID();
		const meta = {
			tag: [{ system: 'http://acme.org/codes', code: mark }],
			security: [{ system: 'http://acme.org/security', code: mark }],
			source: `http://acme.org/sources/${mark}`,
			profile: [`http://acme.org/profiles/${mark}`],
		};
		const { id } = await created(patient({ meta }));
		const list = await created({
			resourceType: 'List',
			status: 'current',
			mode: 'working',
			entry: [{ item: { reference: `Patient/${id}` } }],
		});
		for (const query of [
			`_tag=http://acme.org/codes|${mark}`,
			`_security=http://acme.org/security|${mark}`,
			`_source=http://acme.org/sources/${mark}`,
			`_profile=http://acme.org/profiles/${mark}`,
			`_list=${list.id}`,
			`_id=${id}`,
		])
			assert.deepEqual(idsOf((await fhir('GET', `/Patient?${query}`)).body), [id], query);
	});

	test('what a search cannot do is refused when strict and left out of self when lenient', async () => {
		for (const query of ['nothing=1', 'gender:exact=male', 'name:unknown=x']) {
			const strict = await fhir('GET', `/Patient?${query}`);
			assert.equal(strict.status, 400, query);
			assert.ok(['not-supported', 'invalid'].includes(strict.body.issue[0].code), query);
		}
		const lenient = await fhir('GET', '/Patient?nothing=1&_count=1', undefined, { Prefer: 'handling=lenient' });
		assert.equal(lenient.status, 200);
		assert.doesNotMatch(linkOf(lenient.body, 'self') ?? '', /nothing/);
	});

	test('text/plain is not acceptable', async () => {
		assert.equal((await fhir('GET', '/Patient', undefined, { Accept: 'text/plain' })).status, 406);
	});
});

describe('history and everything', () => {
	test('a history has every version, page by page, and stays as it was while more is written', async () => {
		const { id } = await created(patient({ gender: 'male' }));
		for (const gender of ['female', 'other', 'unknown', 'male']) await fhir('PUT', `/Patient/${id}`, patient({ id, gender }));
		const first = await fhir('GET', `/Patient/${id}/_history?_count=2`);
		await fhir('PUT', `/Patient/${id}`, patient({ id, gender: 'other' }));
		const rest = await pages(linkOf(first.body, 'next') ?? '');
		const versions = [first.body, ...rest].flatMap((page) => page.entry.map(({ resource }: FhirBody) => resource.meta.versionId));
		assert.deepEqual(versions, ['5', '4', '3', '2', '1']);
		const ofType = await fhir('GET', '/Patient/_history?_count=3');
		assert.equal(ofType.body.entry.length, 3);
		assert.equal(idsOf(ofType.body)[0], id);
	});

	test('$everything has all of a patient once, by pages, since a moment and in a range of dates', async () => {
		const { id } = await created(patient());
		const early = await created(observation(id, { effectiveDateTime: '2012-05-05' }));
		const { meta } = await created(observation(id, { effectiveDateTime: '2013-05-05' }));
		const late = await created(observation(id, { effectiveDateTime: '2015-05-05' }));
		const all = (await pages(`/Patient/${id}/$everything?_count=2`)).flatMap(idsOf);
		assert.deepEqual([all.length, new Set(all).size], [4, 4]);
		const since = idsOf((await fhir('GET', `/Patient/${id}/$everything?_since=${meta.lastUpdated}`)).body);
		assert.ok(since.includes(late.id) && !since.includes(early.id));
		const range = idsOf((await fhir('GET', `/Patient/${id}/$everything?start=2013&end=2014`)).body);
		assert.equal(range.length, 2);
	});
});
