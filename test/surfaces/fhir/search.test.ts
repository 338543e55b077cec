import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { idsOf, linkOf, pages, writeSample } from '#test/support/fhir-sample.ts';
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

const get = (path: string, headers: Record<string, string> = {}) => west('GET', `/${path}`, undefined, headers);
describe('a search finds', () => {
	const cases: [query: string, ids: string[]][] = [
		['Patient?name=MÜLL', ['anna', 'ben']],
		['Patient?name:exact=Anna Müller', ['anna']],
		['Patient?name:exact=anna müller', []],
		['Patient?name:exact=Maria', ['anna']],
		['Patient?name:contains=nna', ['anna']],
		['Patient?name=an,en', ['anna', 'ben']],
		['Patient?name=a&name=n', ['anna']],
		['Patient?family=mul', ['anna', 'ben']],
		['Patient?family=uller', []],
		['Patient?given=mar', ['anna']],
		['Patient?given:contains=ari', ['anna']],
		['Patient?phonetic=Miller', ['anna', 'ben']],
		['Patient?phonetic=mueller ANA', ['anna']],
		['Patient?phonetic=Katt', ['cat']],
		['Patient?phonetic=Ann Katt,Bin', ['ben']],
		['Patient?phonetic=Smith', []],
		['Patient?phonetic=-', []],
		['Patient?phonetic:missing=true', []],
		['Patient?identifier=urn:mrn|1,urn:mrn|2', ['anna', 'ben']],
		['Patient?identifier:text=record', ['anna']],
		['Patient?identifier:of-type=urn:types|MR|1', ['anna']],
		['Patient?identifier:of-type=urn:types|MR|2', []],
		['Patient?identifier:of-type=urn:other|MR|1', []],
		['Patient?identifier:of-type=urn:types|DL|1', []],
		['Patient?identifier:missing=true', ['cat']],
		['Patient?identifier:missing=false', ['anna', 'ben']],
		['Patient?birthdate:missing=true', ['cat']],
		['Patient?birthdate=1980', ['ben']],
		['Patient?birthdate=gt1975', ['ben']],
		['Patient?gender:not=male', ['anna', 'cat']],
		['Patient?gender:missing=true', ['cat']],
		['Patient?active=false', ['ben']],
		['Patient?active:not=false', ['anna', 'cat']],
		['Patient?deceased=true', ['ben']],
		['Patient?deceased=false', ['anna', 'cat']],
		['Patient?deceased:missing=true', ['anna']],
		['Patient?deceased:missing=false', ['ben', 'cat']],
		['Patient?telecom=555-1', ['anna']],
		['Patient?phone=555-1', ['anna']],
		['Patient?phone=anna@example.org', []],
		['Patient?email=anna@example.org', ['anna']],
		['Patient?address=ul', ['anna']],
		['Patient?address-city=ulm', ['anna']],
		['Patient?address-city:exact=ulm', []],
		['Patient?address-postalcode=890', ['anna']],
		['Patient?language=de', ['anna']],
		['Patient?general-practitioner=Practitioner/p1', ['anna']],
		['Patient?general-practitioner=p1', ['anna']],
		['Patient?general-practitioner:identifier=urn:npi|9', ['anna']],
		['Patient?_id=anna,ben', ['anna', 'ben']],
		['Patient?_lastUpdated=gt2020', ['anna', 'ben', 'cat']],
		['Patient?_lastUpdated=lt2020', []],
		['Patient?_has:Observation:patient:code=2951-2', ['ben']],
		['Patient?_has:Observation:patient:value-quantity=lt6', ['ben']],
		['Patient?_has:Condition:subject:code=urn:icd|I10', ['anna']],
		['Observation?patient=anna', ['hb1', 'hb2']],
		['Observation?patient=Patient/anna&code=718-7', ['hb1', 'hb2']],
		['Observation?subject:Patient=ben', ['hb3', 'na']],
		['Observation?patient.identifier=urn:mrn|2', ['hb3', 'na']],
		['Observation?subject:Patient.name=müll', ['hb1', 'hb2', 'hb3', 'na']],
		['Observation?patient.name:exact=Maria', ['hb1', 'hb2']],
		['Observation?patient.birthdate=lt1975&code=718-7', ['hb1', 'hb2']],
		['Observation?code:text=hämo', ['hb1', 'hb2', 'hb3', 'na']],
		['Observation?code:not=718-7', ['na']],
		['Observation?code=http://loinc.org|', ['hb1', 'hb2', 'hb3', 'na']],
		['Observation?code=|718-7', []],
		['Observation?category=laboratory', ['na']],
		['Observation?category:missing=false', ['na']],
		['Observation?date=2024-01', ['hb1']],
		['Observation?date=ge2024-01-15', ['hb2']],
		['Observation?value-quantity=12.5', ['hb1']],
		['Observation?value-quantity=12', []],
		['Observation?value-quantity=gt10|http://unitsofmeasure.org|g/dL', ['hb1']],
		['Observation?value-quantity=gt10', ['hb1', 'na']],
		['Observation?value-quantity=lt10||g/dL', ['hb2', 'hb3']],
		['Observation?value-quantity=le9', ['hb2', 'hb3']],
		['Observation?value-quantity=ge9&code=718-7', ['hb1', 'hb2']],
		['Observation?value-quantity=ne9&code=718-7', ['hb1', 'hb3']],
		['Observation?value-quantity=1.4e2', ['na']],
		['Observation?code-value-quantity=718-7$gt10', ['hb1']],
		['Observation?code-value-quantity=http://loinc.org|718-7$lt10|http://unitsofmeasure.org|g/dL', ['hb2', 'hb3']],
		['Observation?code-value-quantity=718-7$9,2951-2$140', ['hb2', 'na']],
		['Condition?patient=Patient/anna', ['c1']],
		['Condition?clinical-status=active', ['c1']],
		['Condition?clinical-status=http://terminology.hl7.org/CodeSystem/condition-clinical|active', ['c1']],
		['Condition?clinical-status=resolved', []],
		['Condition?code=urn:icd|I10', ['c1']],
		['Condition?recorded-date=2024-03', ['c1']],
		['AllergyIntolerance?patient=anna', ['a1']],
		['AllergyIntolerance?clinical-status=active', ['a1']],
		['AllergyIntolerance?code=nut', ['a1']],
		['AllergyIntolerance?code:text=pean', ['a1']],
		['AllergyIntolerance?category=food', ['a1']],
		['Procedure?patient=ben', ['p1']],
		['Procedure?code=CT', ['p1']],
		['DocumentReference?patient=anna', ['d1']],
		['DocumentReference?type=http://loinc.org|11502-2', ['d1']],
		['DocumentReference?contenttype=text/plain', ['d1']],
		['DiagnosticReport?status=final', []],
		['Encounter?patient=anna', []],
	];
	const sorted = (ids: readonly string[]) => [...ids].sort();
	for (const [query, ids] of cases) {
		test(query, async () => {
			const [path = '', parameters = ''] = query.split(/\?(.*)/s);
			const encoded = new URLSearchParams(parameters).toString();
			const reply = await get(`${path}?${encoded}`);
			assert.equal(reply.status, 200, reply.text);
			assert.deepEqual(sorted(idsOf(reply)), sorted(ids));
			assert.deepEqual(idsOf(await east('GET', `/${path}?${encoded}`)), [], 'another site has none of it');
			assert.equal((await get(`${path}?${encoded}&_summary=count`)).body.total, ids.length);
			const form = await west('POST', `/${path}/_search`, encoded, { 'Content-Type': 'application/x-www-form-urlencoded' });
			assert.deepEqual(sorted(idsOf(form)), sorted(ids), 'by POST');
		});
	}
});

describe('the order', () => {
	test('follows _sort, several keys and both ways, on every page, resources without a value among them', async () => {
		const cases: [string, string[]][] = [
			['Patient?_sort=birthdate', ['anna', 'ben', 'cat']],
			['Patient?_sort=-birthdate', ['ben', 'anna', 'cat']],
			['Patient?_sort=name', ['anna', 'ben', 'cat']],
			['Patient?_sort=gender,-birthdate', ['anna', 'ben', 'cat']],
			['Patient?_sort=-gender,name', ['ben', 'anna', 'cat']],
			['Patient?_sort=_lastUpdated', ['anna', 'ben', 'cat']],
			['Patient?_sort=-_lastUpdated', ['cat', 'ben', 'anna']],
			['Observation?_sort=date&code=718-7', ['hb1', 'hb2', 'hb3']],
			['Observation?_sort=-date&patient=anna', ['hb2', 'hb1']],
		];
		for (const [query, ids] of cases) {
			for (const count of [1, 2, 3]) {
				const found = await pages(west, await get(`${query}&_count=${count}`));
				assert.deepEqual(found.flat(), ids, `${query} by ${count}`);
				assert.ok(
					found.every((page) => page.length > 0),
					'no page is empty',
				);
			}
		}
		assert.equal((await get('Patient?_sort=telecom')).status, 400);
		assert.equal((await get('Patient?_sort=nothing')).status, 400);
	});

	test('a cursor says nothing of what it holds', async () => {
		const next = linkOf(await get('Patient?_sort=name&_count=1'), 'next') ?? assert.fail();
		const cursor = new URL(next).searchParams.get('_cursor') ?? '';
		assert.doesNotMatch(Buffer.from(cursor, 'base64url').toString('latin1').toLowerCase(), /anna|ller/);
	});

	test('of pages after POST _search goes on by GET', async () => {
		const first = await west('POST', '/Patient/_search?gender:missing=false', '_count=1&_sort=name', {
			'Content-Type': 'application/x-www-form-urlencoded',
		});
		assert.deepEqual(await pages(west, first), [['anna'], ['ben']]);
		assert.equal((await west('POST', '/Patient/_search', '{}')).status, 415);
		assert.deepEqual(idsOf(await west('POST', '/Patient/_search?name=cat')), ['cat']);
	});
});

describe('what comes along', () => {
	test('_include brings what matches refer to, once; _revinclude what refers to them', async () => {
		const forward = await get('Observation?code=718-7&_include=Observation:patient');
		assert.deepEqual(idsOf(forward).sort(), ['hb1', 'hb2', 'hb3']);
		assert.deepEqual(idsOf(forward, 'include').sort(), ['anna', 'ben']);
		assert.deepEqual(idsOf(await get('Observation?code=2951-2&_include=Observation:subject:Patient'), 'include'), ['ben']);
		for (const value of ['Observation:*', '*']) {
			assert.deepEqual(idsOf(await get(`Observation?code=2951-2&_include=${value}`), 'include').sort(), ['ben', 'hb3'], value);
		}
		assert.deepEqual(idsOf(await get('Observation?code=2951-2&_include=Observation:subject:Group'), 'include'), []);
		assert.deepEqual(idsOf(await get('Observation?_id=na&_include=Observation:has-member'), 'include'), ['hb3']);
		const reverse = await get('Patient?_id=anna&_revinclude=Observation:patient&_revinclude=Condition:subject');
		assert.deepEqual(idsOf(reverse, 'include').sort(), ['c1', 'hb1', 'hb2']);
		assert.deepEqual(idsOf(await get('Patient?_id=anna&_revinclude=*'), 'include').sort(), ['a1', 'c1', 'd1', 'hb1', 'hb2']);
		assert.deepEqual(idsOf(await get('Observation?_id=hb1&_include=Observation:performer'), 'include'), []);
		// An element refers, which no column holds.
		assert.deepEqual(idsOf(await get('Observation?_id=hb3,hb1&_revinclude=Observation:has-member'), 'include'), ['na']);
		assert.deepEqual(idsOf(await get('Observation?_id=hb3&_revinclude=Observation:has-member:Observation'), 'include'), ['na']);
		assert.deepEqual(idsOf(await get('Observation?_id=hb3&_revinclude=Observation:has-member:MolecularSequence'), 'include'), []);
		assert.deepEqual(idsOf(await get('Observation?_id=hb1&_revinclude=Observation:has-member'), 'include'), []);
		assert.deepEqual(idsOf(await get('Observation?_id=hb3&_revinclude=*'), 'include'), ['na']);
		for (const query of [
			'_include=Observation:nothing',
			'_revinclude=Observation:nothing',
			'_include=Patient:link',
			'_include:iterate=*',
			'_include:iterate=Nothing:x',
			'_include:recurse=Observation:patient',
			'_revinclude:iterate=Observation:nothing',
			'_revinclude=Nothing:x',
		]) {
			assert.equal((await get(`Observation?${query}`)).status, 400, query);
		}
	});

	test('no more than the limit, and the page says so', async () => {
		await using small = await testService({ SEARCH_INCLUDES_MAX: '2' });
		const call = fhirClient(small, (await small.addSite('small')).key);
		await call('PUT', '/Patient/p', { resourceType: 'Patient' });
		for (let index = 0; index < 4; index++) {
			await call('POST', '/Observation', {
				resourceType: 'Observation',
				status: 'final',
				code: { text: 'x' },
				subject: { reference: 'Patient/p' },
			});
		}
		const reply = await call('GET', '/Patient?_revinclude=Observation:patient');
		assert.equal(idsOf(reply, 'include').length, 2);
		const [outcome] = reply.body.entry.filter((entry: FhirBody) => entry.search.mode === 'outcome');
		assert.equal(outcome.resource.issue[0].severity, 'warning');
		for (let index = 0; index < 4; index++) {
			await call('PUT', `/Observation/step${index}`, {
				...{ resourceType: 'Observation', id: `step${index}`, status: 'final', code: { text: 'x' } },
				...(index === 0 ? {} : { hasMember: [{ reference: `Observation/step${index - 1}` }] }),
			});
		}
		const bounded = await call('GET', '/Observation?_id=step3&_include:iterate=Observation:has-member');
		assert.deepEqual(idsOf(bounded, 'include'), ['step2', 'step1']);
		assert.equal(bounded.body.entry.at(-1).search.mode, 'outcome');
	});
});

describe('what is shown of a resource', () => {
	test('_summary and _elements cut it down and mark it', async () => {
		const shown = async (query: string) => (await get(`Patient?_id=anna&${query}`)).body.entry[0].resource;
		const { meta, id, resourceType, ...rest } = await shown('_elements=birthDate,name');
		assert.deepEqual([id, resourceType], ['anna', 'Patient']);
		assert.deepEqual(Object.keys(rest).sort(), ['birthDate', 'name']);
		assert.equal(meta.tag[0].code, 'SUBSETTED');
		const summary = await shown('_summary=true');
		assert.ok('name' in summary && !('communication' in summary) && !('generalPractitioner' in summary));
		assert.ok('communication' in (await shown('_summary=data')));
		assert.equal((await shown('_summary=false')).meta.tag, undefined);
		const read = await get('Patient/anna?_elements=gender');
		assert.deepEqual(Object.keys(read.body).sort(), ['gender', 'id', 'meta', 'resourceType']);
		const value = (await get('Observation?_id=hb1&_elements=value')).body.entry[0].resource;
		assert.deepEqual(Object.keys(value).sort(), ['code', 'id', 'meta', 'resourceType', 'status', 'valueQuantity']);
		assert.match((await get('Observation?_id=hb1&_elements=value')).text, /12\.50/);
		assert.equal((await get('Patient/anna?_summary=count')).status, 400);
		assert.equal((await get('Patient?_elements=a b')).status, 400);
	});
});

describe('resources without a value', () => {
	let call: FhirCall;
	const ids = new Map<string, string>();
	const observations: Readonly<Record<string, object>> = {
		old: {
			effectiveDateTime: '2020-01-01',
			code: { coding: [{ code: 'c' }] },
			method: { coding: [{ code: 'm' }] },
			valueQuantity: { value: 1 },
		},
		undated: { code: { text: 'c' }, method: { text: 'm' }, performer: [{ display: 'p' }], valueString: 'x' },
		latest: { effectivePeriod: { start: '2024-06-01' }, code: { coding: [{ display: 'c' }] }, performer: [{ identifier: { value: 'p' } }] },
		timed: {
			effectiveTiming: { event: ['2022-01-01'] },
			subject: { display: 's' },
			component: [{ code: { text: 'k' } }],
			bodySite: { text: 'b' },
		},
	};

	before(async () => {
		call = fhirClient(service, (await service.addSite('gaps')).key);
		assert.equal((await call('PUT', '/Patient/one', { resourceType: 'Patient', id: 'one', name: [{ use: 'official' }] })).status, 201);
		for (const [name, more] of Object.entries(observations)) {
			const resource = {
				resourceType: 'Observation',
				status: 'final',
				code: { text: 'c' },
				subject: { reference: 'Patient/one' },
				...more,
			};
			const reply = await call('POST', '/Observation', resource);
			assert.equal(reply.status, 201, reply.text);
			ids.set(reply.body.id, name);
		}
	});

	const found = async (query: string) => {
		const reply = await call('GET', `/${query}`);
		assert.equal(reply.status, 200, reply.text);
		return (reply.body.entry ?? []).map(({ resource }: FhirBody) => ids.get(resource.id) ?? resource.id) as string[];
	};

	test('come last in either direction, on every page', async () => {
		assert.deepEqual(await found('Observation?_sort=-date&_count=1'), ['latest']);
		assert.deepEqual(await found('Observation?_sort=-date'), ['latest', 'old', 'timed', 'undated']);
		assert.deepEqual(await found('Observation?_sort=date'), ['old', 'latest', 'undated', 'timed']);
		for (const sort of ['date', '-date', '-code,-date']) {
			const whole = await found(`Observation?_sort=${sort}`);
			const parts = (await pages(call, await call('GET', `/Observation?_sort=${sort}&_count=1`))).flat().map((id) => ids.get(id) ?? id);
			assert.deepEqual(parts, whole, sort);
		}
	});

	const all = Object.keys(observations);
	const present: Readonly<Record<string, readonly string[]>> = {
		code: all,
		method: ['old', 'undated'],
		'component-code': ['timed'],
		performer: ['undated', 'latest'],
		patient: all,
		subject: all,
		date: ['old', 'latest', 'timed'],
		'value-quantity': ['old'],
		'value-string': ['undated'],
		status: all,
		encounter: [],
	};
	for (const [name, having] of Object.entries(present)) {
		test(`are what ${name}:missing finds, and the others are not`, async () => {
			assert.deepEqual((await found(`Observation?${name}:missing=false`)).sort(), [...having].sort());
			assert.deepEqual((await found(`Observation?${name}:missing=true`)).sort(), all.filter((one) => !having.includes(one)).sort());
		});
	}

	test('have a name of whatever parts', async () => {
		assert.deepEqual([await found('Patient?name:missing=false'), await found('Patient?family:missing=true')], [['one'], ['one']]);
	});
});

describe('what is refused', () => {
	test('names each parameter and modifier', async () => {
		const two = await get('Patient?foo=1&bar=2');
		assert.equal(two.status, 400);
		assert.deepEqual(
			two.body.issue.map((issue: FhirBody) => issue.expression[0]),
			['foo', 'bar'],
		);
		for (const query of [
			'Patient?name:below=x',
			'Patient?gender:in=x',
			'Patient?birthdate:exact=1970',
			'Patient?gender:missing=perhaps',
			'Observation?subject:Claim=x',
			'Observation?patient.nothing=x',
			'Observation?performer.nothing=x',
			'Observation?value-quantity=abc',
			'Observation?value-quantity=ap5',
			'Observation?code-value-quantity=718-7',
			'Patient?_has:Observation:patient=x',
			'Patient?_has:Nothing:patient:code=x',
			'Patient?_sort=name&_sort=gender',
			'Patient?_id=,',
		]) {
			const reply = await get(query);
			assert.equal(reply.status, 400, query);
			assert.equal(reply.body.resourceType, 'OperationOutcome');
		}
		for (const form of [`_id=${'a,'.repeat(2000)}b`, `phonetic=${'abcd '.repeat(100_000)}`]) {
			const many = await west('POST', '/Patient/_search', form, { 'Content-Type': 'application/x-www-form-urlencoded' });
			assert.equal(many.status, 400, many.text);
		}
	});
});

describe('a read', () => {
	test('If-Modified-Since is 304 when nothing is newer', async () => {
		const { headers } = await get('Patient/anna');
		const since = headers.get('last-modified') ?? '';
		assert.equal((await get('Patient/anna', { 'If-Modified-Since': since })).status, 304);
		assert.equal((await get('Patient/anna', { 'If-Modified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).status, 200);
		assert.equal((await get('Patient/anna', { 'If-None-Match': 'W/"9"', 'If-Modified-Since': since })).status, 200);
	});
});
