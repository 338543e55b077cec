import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addIssuer } from '#administration/issuers.ts';
import { setSite } from '#administration/sites.ts';
import { type FhirCall, type FhirReply, fhirClient } from '#test/support/fhir-client.ts';
import { idsOf } from '#test/support/fhir-sample.ts';
import { clientId, jwtAudience, type TestProvider, testProvider } from '#test/support/oidc-provider.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let provider: TestProvider;
let byKey: FhirCall;

const category = 'http://terminology.hl7.org/CodeSystem/observation-category';
const observation = (id: string, patient: string, code: string, more: object = {}) => ({
	...{ resourceType: 'Observation', id, status: 'final', code: { text: `secret ${id}` }, subject: { reference: `Patient/${patient}` } },
	category: [{ coding: [{ system: category, code }] }],
	...more,
});
const content: readonly FhirBody[] = [
	{ resourceType: 'Patient', id: 'own', gender: 'female', name: [{ family: 'Rivers' }] },
	{ resourceType: 'Patient', id: 'other', gender: 'male', name: [{ family: 'Lakes' }] },
	{ resourceType: 'Practitioner', id: 'doctor', name: [{ family: 'Hills' }] },
	observation('lab', 'own', 'laboratory', { hasMember: [{ reference: 'Observation/social' }, { reference: 'Observation/foreign' }] }),
	observation('social', 'own', 'social-history', { performer: [{ reference: 'Practitioner/doctor' }] }),
	observation('foreign', 'other', 'laboratory', { performer: [{ reference: 'Patient/own' }] }),
	{ resourceType: 'Condition', id: 'ill', subject: { reference: 'Patient/own' }, code: { text: 'secret ill' } },
	{ resourceType: 'Condition', id: 'sick', subject: { reference: 'Patient/other' }, code: { text: 'secret sick' } },
	{
		...{ resourceType: 'Appointment', id: 'visit', status: 'proposed' },
		participant: ['own', 'other'].map((id) => ({ actor: { reference: `Patient/${id}` }, status: 'accepted' })),
	},
	{
		...{ resourceType: 'Appointment', id: 'away', status: 'proposed' },
		participant: [{ actor: { reference: 'Patient/other' }, status: 'accepted' }],
	},
	{ resourceType: 'List', id: 'list', status: 'current', mode: 'working', entry: [{ item: { reference: 'Observation/lab' } }] },
];

before(async () => {
	service = await testService();
	provider = await testProvider([]);
	byKey = fhirClient(service, (await service.addSite('north')).key);
	await setSite(service.administration, { slug: 'north', deletes: true });
	const row = { site: 'north', owner: 'owner@example.org', issuer: provider.issuer, audience: jwtAudience, clients: [clientId] };
	await addIssuer(service.administration, row);
	for (const resource of content) {
		const reply = await byKey('PUT', `/${resource.resourceType}/${resource.id}`, resource);
		assert.equal(reply.status, 201, reply.text);
	}
	// The observation was of another kind before, and is of another patient now.
	for (const change of [
		observation('moved', 'own', 'laboratory'),
		observation('moved', 'other', 'social-history'),
		observation('turned', 'other', 'social-history'),
		observation('turned', 'own', 'laboratory'),
	])
		assert.ok((await byKey('PUT', `/Observation/${change.id}`, change)).status < 300);
});

after(async () => {
	await provider[Symbol.asyncDispose]();
	await service[Symbol.asyncDispose]();
});

/** Calls with a token of these scopes, which was issued for a patient if one is named. */
async function as(scope: string, patient?: string): Promise<FhirCall> {
	const token = await provider.forge({ scope, ...(patient === undefined ? {} : { patient }) });
	return async (method, path, body, headers = {}) => {
		const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/fhir+json';
		const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir${path}`, {
			method,
			headers: { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'Content-Type': type }), ...headers },
			...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
		});
		const text = await answer.text();
		return { status: answer.status, headers: answer.headers, text, body: text === '' ? undefined : JSON.parse(text) };
	};
}

const all = (reply: FhirReply): string[] => {
	assert.equal(reply.status, 200, reply.text);
	return [...idsOf(reply), ...idsOf(reply, 'include')].sort();
};

const lab = `system/Observation.cruds?category=${category}|laboratory`;
const ofPatient = 'patient/*.cruds';

/** What each token reaches, and nothing else. */
const tokens: readonly [name: string, scope: string, patient: string | undefined, observations: string[]][] = [
	['a scope with a search', lab, undefined, ['foreign', 'lab', 'turned']],
	['a scope with two parameters', `${lab}&patient=own`, undefined, ['lab', 'turned']],
	[
		'a scope with alternatives',
		'system/Observation.rs?category=laboratory,social-history&patient=own',
		undefined,
		['lab', 'social', 'turned'],
	],
	['two scopes with searches', 'system/Observation.rs?_id=lab system/Observation.rs?_id=social', undefined, ['lab', 'social']],
	['a patient', ofPatient, 'own', ['lab', 'social', 'turned']],
	['a patient with a search', 'patient/Observation.rs?category=laboratory', 'own', ['lab', 'turned']],
	['a patient whom nobody knows', ofPatient, 'nobody', []],
	['a scope whose parameter the type does not have', 'system/Observation.rs?colour=red', undefined, []],
	['a scope whose parameter is empty', 'system/Observation.rs?category=', undefined, []],
	['a scope of which one parameter is empty', `${lab}&patient=`, undefined, []],
	['a scope that shapes a page', 'system/Observation.rs?_count=5', undefined, []],
	['a scope whose value set nobody knows', 'system/Observation.rs?code:in=urn:none', undefined, []],
	['a scope with a wrong date', 'system/Observation.rs?date=soon', undefined, []],
];

for (const [name, scope, patient, reached] of tokens) {
	const everyId = ['foreign', 'lab', 'moved', 'social', 'turned'];
	test(`a token of ${name} searches and reads what it reaches, and nothing else`, async () => {
		const call = await as(scope, patient);
		assert.deepEqual(all(await call('GET', '/Observation')), reached);
		assert.deepEqual(all(await call('GET', '/Observation?patient=own,other&status=final&_sort=-date')), reached);
		assert.deepEqual(all(await call('GET', '/Observation?category:not=nothing')), reached);
		assert.equal((await call('GET', '/Observation?_summary=count')).body.total, reached.length);
		assert.equal((await call('GET', '/Observation?_total=accurate&_count=1')).body.total, reached.length);
		const form = await call('POST', '/Observation/_search', 'status=final', { 'Content-Type': 'application/x-www-form-urlencoded' });
		assert.deepEqual(all(form), reached);
		for (const id of everyId) {
			const status = reached.includes(id) ? 200 : 404;
			assert.equal((await call('GET', `/Observation/${id}`)).status, status, id);
			assert.equal((await call('GET', `/Observation/${id}`, undefined, { 'If-None-Match': 'W/"1"' })).status < 400, reached.includes(id));
		}
		const batch = {
			resourceType: 'Bundle',
			type: 'batch',
			entry: everyId.map((id) => ({ request: { method: 'GET', url: `Observation/${id}` } })),
		};
		const { body } = await call('POST', '', batch);
		const statuses = body.entry.map(({ response }: FhirBody) => response.status.slice(0, 3));
		assert.deepEqual(
			statuses,
			everyId.map((id) => (reached.includes(id) ? '200' : '404')),
		);
		for (const owner of ['own', 'other']) {
			const found = all(await call('GET', `/Patient/${owner}/Observation`));
			assert.deepEqual(
				found,
				found.filter((id) => reached.includes(id)),
			);
		}
		const last = await call('GET', '/Observation/$lastn?patient=own,other&category=laboratory,social-history&max=9');
		assert.deepEqual(all(last), reached);
	});
}

describe('a token that reaches a part of a type', () => {
	/** Nothing that the two tokens do not reach may stand in an answer. */
	const hidden: Readonly<Record<string, RegExp>> = {
		[lab]: /secret (?:social|moved|ill|sick)|Rivers|Lakes|Hills|"away"/,
		[ofPatient]: /secret (?:foreign|moved|sick)|Lakes|Hills|"away"/,
	};

	for (const [scope, pattern] of Object.entries(hidden)) {
		const attempts: [method: string, path: string, body?: object | string, headers?: Record<string, string>][] = [
			...[
				'Observation/lab/_history',
				'Observation/turned/_history',
				'Observation/turned/_history/1',
				'Observation/moved/_history/1',
				'Observation/_history',
				'Patient/other',
				'Patient/other/_history/1',
				'Patient/other/$everything',
				'Patient/own/$everything',
				'Patient/other/Condition',
				'Observation?_include=Observation:has-member',
				'Observation?_include:iterate=Observation:has-member',
				'Observation?_revinclude=Observation:has-member',
				'Observation?_revinclude:iterate=Observation:has-member',
				'Patient?_revinclude=Observation:performer&_revinclude=Condition:asserter',
				'Observation?_include=Observation:performer&_include=Observation:patient',
				'Observation?_include=*&_revinclude=*',
				'Observation?_include=Observation:patient&_revinclude:iterate=Condition:patient&_include:iterate=Condition:patient',
				'Observation?_include=Observation:patient&_revinclude:iterate=Observation:patient',
				'Observation/$lastn?patient=own&category=laboratory&_include=Observation:has-member',
				'Patient?_revinclude=Observation:patient&_revinclude=Condition:patient',
				'Observation/$validate?_id=social',
				'Observation/social/$validate',
				'Appointment',
				'Appointment?_include=Appointment:actor',
				'Appointment/away',
				'Practitioner',
				'Practitioner/doctor',
				'DocumentReference/$docref?patient=other',
				'?_type=Observation',
				'?_id=social,foreign,other',
				'_history',
			].map((path): [string, string] => ['GET', `/${path}`]),
			[
				'POST',
				'/Patient/$match',
				{
					resourceType: 'Parameters',
					parameter: [{ name: 'resource', resource: { resourceType: 'Patient', name: [{ family: 'Lakes' }] } }],
				},
			],
			['POST', '/Patient/other/$everything', { resourceType: 'Parameters', parameter: [{ name: '_type', valueCode: 'Observation' }] }],
			[
				'POST',
				'',
				{
					resourceType: 'Bundle',
					type: 'batch',
					entry: [
						{ request: { method: 'GET', url: 'Observation/social/_history' } },
						{ request: { method: 'GET', url: 'Patient/other/Condition' } },
					],
				},
			],
		];
		for (const [method, path, body, headers] of attempts) {
			test(`${scope.slice(0, 24)}… sees nothing beyond it by ${method} ${path}`, async () => {
				const call = await as(scope, scope === ofPatient ? 'own' : undefined);
				const reply = await call(method, path, body, headers);
				assert.ok(reply.status < 500, reply.text);
				assert.doesNotMatch(reply.text, pattern);
			});
		}

		test(`${scope.slice(0, 24)}… does not find by what it does not reach, and neither exports nor writes`, async () => {
			const call = await as(scope, scope === ofPatient ? 'own' : undefined);
			const statuses = await Promise.all(
				(
					[
						['GET', '/Observation?patient.name=Rivers'],
						['GET', '/Observation?patient.gender=male'],
						['GET', '/Observation?has-member.status=final'],
						['GET', '/Observation?_has:Observation:has-member:status=final'],
						['GET', '/Patient?_has:Observation:patient:status=final'],
						['GET', '/Observation?_list=list'],
						['GET', '/$export', undefined, { Prefer: 'respond-async' }],
						['GET', '/Patient/$export?_type=Observation', undefined, { Prefer: 'respond-async' }],
						['POST', '/Observation', observation('new', 'own', 'laboratory')],
						['POST', '/Observation', observation('new', 'own', 'laboratory'), { 'If-None-Exist': 'code:text=secret' }],
						['PUT', '/Observation/lab', observation('lab', 'own', 'laboratory')],
						['PUT', '/Observation?_id=social', observation('social', 'own', 'laboratory')],
						['PATCH', '/Observation/social', [{ op: 'test', path: '/status', value: 'final' }]],
						['PATCH', '/Observation?_id=social', [{ op: 'test', path: '/status', value: 'final' }]],
						['DELETE', '/Practitioner/doctor'],
						['GET', '/Binary/none'],
						['GET', '/Observation/lab/_history/1'],
					] satisfies Parameters<FhirCall>[]
				).map(async (request) => (await call(...(request as Parameters<FhirCall>))).status),
			);
			assert.deepEqual(
				statuses,
				statuses.map(() => 403),
			);
			const entry = [{ resource: observation('new', 'own', 'laboratory'), request: { method: 'POST', url: 'Observation' } }];
			assert.equal((await call('POST', '', { resourceType: 'Bundle', type: 'transaction', entry })).status, 403);
		});
	}

	test('includes what it reaches', async () => {
		const call = await as(ofPatient, 'own');
		assert.deepEqual(all(await call('GET', '/Observation?_id=lab&_include=Observation:has-member')), ['lab', 'social']);
		assert.deepEqual(all(await call('GET', '/Observation?_id=lab&_include=Observation:patient')), ['lab', 'own']);
		assert.deepEqual(all(await call('GET', '/Patient?_revinclude=Observation:patient')), ['lab', 'own', 'social', 'turned']);
		assert.deepEqual(all(await call('GET', '/Appointment?_include=Appointment:actor')), ['own', 'visit']);
		assert.deepEqual(all(await call('GET', '/Observation?_id=social&_revinclude=Observation:has-member')), ['lab', 'social']);
		const narrow = await as('system/Observation.rs?_id=social');
		assert.deepEqual(all(await narrow('GET', '/Observation?_revinclude=Observation:has-member')), ['social']);
	});

	test('reads everything about its patient', async () => {
		const call = await as(ofPatient, 'own');
		assert.deepEqual(all(await call('GET', '/Patient/own/$everything')), ['ill', 'lab', 'own', 'social', 'turned', 'visit']);
		assert.equal((await call('GET', '/Patient/other/$everything')).status, 404);
		const limited = await as(`patient/Patient.rs ${lab.replace('cruds', 'rs')}`, 'own');
		assert.deepEqual(all(await limited('GET', '/Patient/own/$everything?_type=Patient,Observation')), ['lab', 'own', 'turned']);
		assert.equal((await limited('GET', '/Patient/own/$everything')).status, 403);
		assert.equal((await limited('GET', '/Patient/own/$everything?_type=Patient,Organization')).status, 403);
	});

	test('turns the pages of its own searches, and those of others only as far as it reaches', async () => {
		const next = (reply: FhirReply) => reply.body.link.find(({ relation }: FhirBody) => relation === 'next')?.url.split('/fhir')[1];
		const foreign = next(await byKey('GET', '/Observation?_count=1&status=final'));
		const call = await as(ofPatient, 'own');
		for (let path = foreign; path !== undefined; ) {
			const page = await call('GET', path);
			assert.doesNotMatch(page.text, /secret (?:foreign|moved)/);
			path = next(page);
		}
	});

	test('reaches no Binary', async () => {
		const resource = { resourceType: 'Binary', id: 'bytes', contentType: 'text/plain', data: 'c2VjcmV0' };
		assert.equal((await byKey('PUT', '/Binary/bytes', resource)).status, 201);
		const call = await as('system/Binary.rs?_id=bytes system/DocumentReference.rs');
		for (const path of ['/Binary/bytes', '/Binary', '/Binary?_id=bytes', '/Binary/bytes/_history'])
			assert.doesNotMatch((await call('GET', path)).text, /c2VjcmV0|secret/, path);
	});

	test('is a user without a patient, who reaches what a system does', async () => {
		const call = await as('user/Observation.rs');
		assert.equal(all(await call('GET', '/Observation')).length, 5);
		assert.equal((await (await as('user/Observation.rs', 'own'))('GET', '/Observation')).status, 403);
		assert.equal((await (await as('user/Observation.rs launch'))('GET', '/Observation')).status, 403);
	});
});
