import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { idsOf, writeSample } from '#test/support/fhir-sample.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

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
		assert.deepEqual(await included(`Observation?_id=ring1&_revinclude=${member}`), ['ring3']);
		assert.deepEqual(await included(`Observation?_id=ring1&_revinclude:iterate=${member}`), ['ring2', 'ring3']);
		assert.deepEqual(await included(`Observation?_id=ring1&_revinclude:iterate=${member}`, east), ['ring2', 'ring3']);
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

const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });

describe('Observation/$lastn', () => {
	const codes: Readonly<Record<string, string[]>> = { a: ['A'], b: ['B'], ab: ['A', 'B'], c: ['C'] };
	const seen = (id: string, code: string, effectiveDateTime?: string, more: object = {}) => ({
		...{ resourceType: 'Observation', id, status: 'final', subject: { reference: 'Patient/last' } },
		category: [{ coding: [{ code: 'laboratory' }] }],
		code: code in codes ? { coding: codes[code]?.map((one) => ({ system: 'urn:codes', code: one })) } : { text: code },
		...(effectiveDateTime === undefined ? {} : { effectiveDateTime }),
		...more,
	});
	/** Ids in the order of the answer. */
	const last = async (query: string): Promise<string[]> => {
		const reply = await west('GET', `/Observation/$lastn?${query}`);
		assert.equal(reply.status, 200, reply.text);
		assert.equal(reply.body.total, idsOf(reply).length);
		return idsOf(reply);
	};

	before(async () => {
		for (const id of ['last', 'other']) await west('PUT', `/Patient/${id}`, { resourceType: 'Patient', id });
		for (const resource of [
			seen('l-a1', 'a', '2024-01-01'),
			seen('l-a2', 'a', '2024-01-02T10:00:00Z'),
			seen('l-a3', 'a', '2024-01-02T11:00:00+01:00'),
			seen('l-b1', 'b', '2024-01-03'),
			seen('l-c1', 'c', '2024-01-04', { category: [{ coding: [{ code: 'vital-signs' }] }] }),
			seen('l-c2', 'c'),
			seen('l-t1', 'Text', '2024-02-01'),
			seen('l-t2', 'text', '2024-02-02'),
			seen('l-o1', 'a', '2025-01-01', { subject: { reference: 'Patient/other' } }),
		])
			assert.equal((await west('PUT', `/Observation/${resource.id}`, resource)).status, 201);
	});

	test('has the newest of each code, the newest first, with all of the same moment', async () => {
		assert.deepEqual(await last('patient=last&category=laboratory'), ['l-t2', 'l-t1', 'l-b1', 'l-a3', 'l-a2', 'l-c2']);
		assert.deepEqual(await last('patient=last&code=A,C'), ['l-c1', 'l-a3', 'l-a2']);
		assert.deepEqual(await last('subject=Patient/last&code=A&max=2'), ['l-a3', 'l-a2']);
		assert.deepEqual(await last('patient=last&code=A&max=3'), ['l-a3', 'l-a2', 'l-a1']);
		assert.deepEqual(await last('patient=last&code=C&max=9'), ['l-c1', 'l-c2']);
		assert.deepEqual(await last('patient=last&code=A&date=lt2024-01-02'), ['l-a1']);
		assert.deepEqual(await last('patient=last,other&code=A'), ['l-o1', 'l-a3', 'l-a2']);
		assert.deepEqual(await last('patient=nobody&code=A'), []);
		assert.deepEqual(idsOf(await east('GET', '/Observation/$lastn?patient=last&code=A')), []);
	});

	test('takes codes for equal that stand in one observation, also through a third', async () => {
		assert.equal((await west('PUT', '/Observation/l-ab', seen('l-ab', 'ab', '2023-01-01'))).status, 201);
		assert.deepEqual(await last('patient=last&code=A,B'), ['l-b1']);
		assert.deepEqual(await last('patient=last&code=A,B&max=2'), ['l-b1', 'l-a3', 'l-a2']);
		assert.deepEqual(await last('patient=last&code=A,B&max=9'), ['l-b1', 'l-a3', 'l-a2', 'l-a1', 'l-ab']);
	});

	test('takes its parameters in a body, shapes and includes as a search does', async () => {
		const body = parameters({ name: 'patient', valueReference: { reference: 'Patient/last' } }, { name: 'max', valuePositiveInt: 3 });
		const coding = { name: 'code', valueCoding: { system: 'urn:codes', code: 'C' } };
		const reply = await west('POST', '/Observation/$lastn?_include=Observation:patient&_elements=code', {
			...body,
			parameter: [...body.parameter, coding],
		});
		assert.deepEqual([idsOf(reply), idsOf(reply, 'include')], [['l-c1', 'l-c2'], ['last']]);
		assert.equal(reply.body.entry[0].resource.category, undefined);
		assert.match(reply.body.link[0].url, /Observation\/\$lastn\?_include=.*max=3$/);
	});

	test('says what it lacks and what it cannot do', async () => {
		const refused = async (query: string) => {
			const reply = await west('GET', `/Observation/$lastn?${query}`);
			return [reply.status, reply.body.issue[0].code, reply.body.issue[0].expression?.[0]];
		};
		assert.deepEqual(await refused('code=A'), [422, 'required', 'patient']);
		assert.deepEqual(await refused('patient.name=a&code=A'), [422, 'required', 'patient']);
		assert.deepEqual(await refused('patient=last'), [422, 'required', 'category']);
		assert.deepEqual(await refused('patient=last&code=A&max=0'), [400, 'invalid', 'max']);
		assert.deepEqual(await refused('patient=last&code=A&_sort=date'), [400, 'not-supported', '_sort']);
		assert.deepEqual(await refused('patient=last&code=A&colour=red'), [400, 'not-supported', 'colour']);
		assert.equal((await west('GET', '/Patient/$lastn?patient=last')).status, 404);
	});
});

describe('DocumentReference/$docref', () => {
	const documented = (id: string, more: object) => ({
		...{ resourceType: 'DocumentReference', id, status: 'current', subject: { reference: 'Patient/docs' } },
		...{ type: { coding: [{ system: 'urn:codes', code: 'summary' }] }, content: [{ attachment: { url: 'urn:none' } }] },
		...more,
	});

	before(async () => {
		await west('PUT', '/Patient/docs', { resourceType: 'Patient', id: 'docs' });
		const period = { start: '2024-01-01', end: '2024-01-31' };
		for (const resource of [
			documented('doc1', { context: { period }, date: '2024-06-01T00:00:00Z', meta: { profile: ['urn:profile'] } }),
			documented('doc2', { date: '2024-06-01T00:00:00Z', type: { coding: [{ code: 'letter' }] } }),
			documented('doc3', { status: 'superseded', context: { period } }),
		])
			assert.equal((await west('PUT', `/DocumentReference/${resource.id}`, resource)).status, 201);
	});

	test('finds the current documents of a patient, by the time of care, kind and profile', async () => {
		const at = (query: string, site = west) => found(`/DocumentReference/$docref?${query}`, site);
		assert.deepEqual(await at('patient=docs'), ['doc1', 'doc2']);
		assert.deepEqual(await at('patient=Patient/docs&start=2024-01-20&end=2024-02-01'), ['doc1']);
		assert.deepEqual(await at('patient=docs&start=2024-03-01'), ['doc2']);
		assert.deepEqual(await at('patient=docs&end=2024-03-01'), ['doc1']);
		assert.deepEqual(await at('patient=docs&type=urn:codes|summary'), ['doc1']);
		assert.deepEqual(await at('patient=docs&profile=urn:profile'), ['doc1']);
		assert.deepEqual(await at('patient=docs', east), []);
		const body = parameters({ name: 'patient', valueId: 'docs' }, { name: 'type', valueCodeableConcept: { coding: [{ code: 'letter' }] } });
		assert.deepEqual(idsOf(await west('POST', '/DocumentReference/$docref', body)), ['doc2']);
	});

	test('turns its pages', async () => {
		const first = await west(
			'POST',
			'/DocumentReference/$docref',
			parameters({ name: 'patient', valueId: 'docs' }, { name: '_count', valueInteger: 1 }),
		);
		const next = first.body.link.find((link: { relation: string }) => link.relation === 'next').url;
		const second = await west('GET', next.slice(next.indexOf('/DocumentReference')));
		assert.deepEqual([...idsOf(first), ...idsOf(second)].sort(), ['doc1', 'doc2']);
		assert.equal(second.body.link.length, 1);
	});

	test('says that nothing is generated on demand, and what it lacks', async () => {
		const reply = await west('GET', '/DocumentReference/$docref?patient=docs&on-demand=true');
		assert.deepEqual([reply.status, reply.body.total, reply.body.entry[0].resource.issue[0].code], [200, 0, 'not-supported']);
		assert.deepEqual(await found('/DocumentReference/$docref?patient=docs&on-demand=false'), ['doc1', 'doc2']);
		for (const [query, status, at] of [
			['', 422, 'patient'],
			['?patient=docs&on-demand=maybe', 400, 'on-demand'],
			['?patient=docs&start=soon', 400, 'start'],
			['?patient=docs&colour=red', 400, 'colour'],
		] as const) {
			const refused = await west('GET', `/DocumentReference/$docref${query}`);
			assert.deepEqual([refused.status, refused.body.issue[0].expression[0]], [status, at]);
		}
	});
});

describe('$everything by POST', () => {
	test('reads the Parameters of its body, and leads on by GET', async () => {
		const all = (...parameter: object[]) => west('POST', '/Patient/anna/$everything', parameters(...parameter));
		const type = (valueCode: string) => ({ name: '_type', valueCode });
		assert.deepEqual(idsOf(await all(type('Condition'), type('AllergyIntolerance'))).sort(), ['a1', 'c1']);
		assert.deepEqual(idsOf(await all(type('Observation'), { name: 'start', valueDate: '2024-01-15' })), ['hb2']);
		assert.deepEqual(idsOf(await all(type('Observation'), { name: 'end', valueDate: '2024-01-15' })), ['hb1']);
		assert.deepEqual(idsOf(await all({ name: '_since', valueInstant: '2999-01-01T00:00:00Z' })), []);
		const first = await all(type('Observation'), { name: '_count', valueInteger: 1 });
		const next = first.body.link.find((link: { relation: string }) => link.relation === 'next').url;
		const second = await west('GET', next.slice(next.indexOf('/Patient')));
		assert.deepEqual([...idsOf(first), ...idsOf(second)].sort(), ['hb1', 'hb2']);
		const faults = await Promise.all([
			all({ name: 'colour', valueString: 'red' }),
			all({ name: 'start' }),
			all(type('Nonsense')),
			west('POST', '/Patient/anna/$everything', { resourceType: 'Patient' }),
		]);
		assert.deepEqual(
			faults.map(({ status }) => status),
			[400, 400, 400, 400],
		);
		assert.equal((await west('POST', '/Patient/anna/$everything')).status, 200);
	});
});

describe('Patient/$match', () => {
	const person = (id: string, mrn: string, family: string, given: string, birthDate: string) => ({
		...{ resourceType: 'Patient', id, birthDate, gender: 'female', name: [{ family, given: [given] }] },
		identifier: [{ system: 'urn:match', value: mrn }],
	});
	const match = (resource: object, more: object[] = [], site = west) =>
		site('POST', '/Patient/$match', parameters({ name: 'resource', resource: { resourceType: 'Patient', ...resource } }, ...more));
	const graded = ({ body }: FhirReply) =>
		(body.entry ?? [])
			.filter(({ search }: FhirBody) => search.mode === 'match')
			.map(({ resource, search }: FhirBody) => `${resource.id} ${search.extension[0].valueCode} ${search.score}`);

	before(async () => {
		for (const patient of [
			person('m1', '81', 'Rivers', 'Alba', '1981-06-12'),
			person('m2', '82', 'Rivers', 'Alba', '1981-06-12'),
			person('m3', '83', 'Rivers', 'Alba', '1990-01-01'),
			person('m4', '84', 'Lakes', 'Nora', '1981-06-12'),
		])
			assert.equal((await west('PUT', `/Patient/${patient.id}`, patient)).status, 201);
	});

	test('grades patients by numbers, and by name and birth date, the surest first', async () => {
		const { resourceType: _type, id: _id, ...alba } = person('m1', '81', 'Rivers', 'Alba', '1981-06-12');
		const all = await match(alba);
		assert.deepEqual(graded(await west('POST', '/Patient/$match', { resourceType: 'Patient', ...alba })), graded(all), 'the Patient alone');
		assert.deepEqual(graded(all), ['m1 certain 1', 'm2 possible 0.55', 'm3 possible 0.25']);
		assert.equal(all.body.entry[0].search.extension[0].url, 'http://hl7.org/fhir/StructureDefinition/match-grade');
		assert.equal(all.body.total, 3);
		assert.deepEqual(graded(await match(alba, [{ name: 'onlyCertainMatches', valueBoolean: true }])), ['m1 certain 1']);
		const first = await match(alba, [{ name: 'count', valueInteger: 1 }]);
		assert.deepEqual([graded(first), first.body.entry[1].search.mode], [['m1 certain 1'], 'outcome']);
		assert.match(first.body.entry[1].resource.issue[0].diagnostics, /^2 further patients/);
		const { identifier: _numbers, ...unnumbered } = alba;
		assert.deepEqual(graded(await match(unnumbered)).sort(), ['m1 probable 0.75', 'm2 probable 0.75', 'm3 possible 0.25']);
		assert.deepEqual(graded(await match({ identifier: [{ value: '84' }] })), ['m4 probable 0.85']);
		const stranger = { ...alba, identifier: [{ system: 'urn:match', value: '84' }] };
		assert.deepEqual(graded(await match(stranger)).at(-1), 'm3 possible 0.25');
		const wrong = { identifier: [{ system: 'urn:match', value: '84' }], name: [{ text: 'Otto Hills' }], birthDate: '1950', gender: 'male' };
		assert.deepEqual(graded(await match(wrong)), ['m4 certainly-not 0.05']);
		assert.deepEqual(graded(await match(alba, [], east)), []);
	});

	test('is in the audit trail, without a name or number', async () => {
		await match({ identifier: [{ system: 'urn:match', value: '81' }], name: [{ family: 'Unheard' }] });
		const written = `select actor, detail from audit_event where action = 'patient.match' and detail ->> 'found' = '1' order by id desc limit 1`;
		await eventually(async () => (await service.rows(written)).length > 0, 'the event');
		const rows = await service.rows(written);
		assert.match(String(rows[0]?.['actor']), /^key:/);
		assert.ok(!JSON.stringify(rows).includes('Unheard'));
	});

	test('says by what nobody is found', async () => {
		const refused = async (...parameter: object[]) => {
			const reply = await west('POST', '/Patient/$match', parameters(...parameter));
			return [reply.status, reply.body.issue[0].expression?.[0]];
		};
		const patient = (more: object) => ({ name: 'resource', resource: { resourceType: 'Patient', ...more } });
		assert.deepEqual(await refused(), [400, 'resource']);
		assert.deepEqual(await refused({ name: 'resource', resource: { resourceType: 'Person' } }), [400, 'resource']);
		assert.deepEqual(await refused(patient({ birthDate: '1981-06-12' })), [400, 'resource']);
		assert.deepEqual(await refused(patient({ name: [{ family: 'Xu' }] })), [400, 'resource']);
		assert.deepEqual(await refused(patient({ name: [{ family: 'Rivers' }], birthDate: 'soon' })), [400, 'Patient.birthDate']);
		assert.deepEqual(await refused(patient({ name: [{ family: 'Rivers' }] }), { name: 'colour', valueString: 'red' }), [400, 'colour']);
		assert.deepEqual(await refused(patient({ name: [{ family: 'Rivers' }] }), { name: 'count', valueInteger: 0 }), [400, 'count']);
		assert.equal((await west('GET', '/Patient/$match')).status, 405);
	});
});
