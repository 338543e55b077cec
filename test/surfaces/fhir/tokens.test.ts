import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { decodeProtectedHeader } from 'jose';
import { addIssuer, listIssuers, removeIssuer, setIssuer } from '#administration/issuers.ts';
import { changed, hmac, tampered, unsigned } from '#test/support/forged-tokens.ts';
import { clientId, jwtAudience, signingKey, type TestProvider, testProvider } from '#test/support/oidc-provider.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const scopes = ['system/*.cruds', 'system/Patient.rs', 'system/Observation.rs', 'system/*.read', 'patient/Patient.rs'];

let product: TestService;
let provider: TestProvider;
let northKey: string;
let southKey: string;

before(async () => {
	product = await testService({ TOKEN_CHECKED_MS_MAX: '0', TOKEN_KEYS_UNKNOWN_MS: '100' });
	provider = await testProvider(scopes);
	({ key: northKey } = await product.addSite('north'));
	({ key: southKey } = await product.addSite('south'));
	await addIssuer(product.administration, {
		site: 'north',
		owner: 'owner@example.org',
		issuer: provider.issuer,
		audience: jwtAudience,
		clients: [clientId],
	});
});

after(async () => {
	await provider[Symbol.asyncDispose]();
	await product[Symbol.asyncDispose]();
});

interface Answer {
	status: number;
	body: ReturnType<typeof JSON.parse>;
	headers: Headers;
}

async function ask(path: string, headers: Record<string, string>, init: { method?: string; body?: string } = {}): Promise<Answer> {
	const answer = await fetch(`http://127.0.0.1:${product.port('fhir')}${path}`, { ...init, headers });
	const text = await answer.text();
	return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const fhirJson = { 'Content-Type': 'application/fhir+json' };

describe('an access token of the provider of a site', () => {
	test('is got by client_credentials with private_key_jwt, and reads and writes the site', async () => {
		const token = await provider.token('system/*.cruds');
		const created = await ask(
			'/fhir/Patient',
			{ ...bearer(token), ...fhirJson },
			{
				method: 'POST',
				body: JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Token' }] }),
			},
		);
		assert.equal(created.status, 201);
		const read = await ask(`/fhir/Patient/${created.body.id}`, bearer(token));
		assert.equal(read.status, 200);
		const byKey = await ask(`/fhir/Patient/${created.body.id}`, { 'X-API-Key': northKey });
		assert.deepEqual(byKey.body, read.body);
	});

	const refused = (answer: Answer) => {
		assert.equal(answer.status, 401);
		assert.equal(answer.headers.get('www-authenticate'), 'X-API-Key, Bearer error="invalid_token"');
		assert.deepEqual(answer.body.issue, unauthenticated);
	};
	const now = () => Math.floor(Date.now() / 1000);

	test('is taken whoever made it, as long as issuer, audience, client, time and signature are right', async () => {
		assert.equal((await ask('/fhir/Patient', bearer(await provider.forge({ scope: 'system/Patient.rs' })))).status, 200);
	});

	for (const [what, make] of Object.entries<() => Promise<string>>({
		'of another issuer': () => provider.forge({ iss: 'https://elsewhere.test', scope: 'system/*.rs' }),
		'for another audience': () => provider.forge({ aud: 'https://elsewhere.test', scope: 'system/*.rs' }),
		'of a client that the site does not take': () => provider.token('system/*.cruds', { client: 'stranger' }),
		'without a client': () => provider.forge({ client_id: 7, scope: 'system/*.rs' }),
		'that is past its time': () => provider.forge({ exp: now() - 60, scope: 'system/*.rs' }),
		'that never expires': () => provider.forge({ exp: undefined, scope: 'system/*.rs' }),
		'before its time': () => provider.forge({ nbf: now() + 120, scope: 'system/*.rs' }),
		'that is bound to a key of its client': () => provider.forge({ cnf: { jkt: 'x' }, scope: 'system/*.rs' }),
		'that is an ID token': () => provider.forge({ scope: 'system/*.rs' }, { header: { typ: 'logout+jwt' } }),
		'with critical extensions': async () =>
			tampered(await provider.forge({ scope: 'system/*.rs' }), { alg: 'RS256', crit: ['b64'], b64: false }),
		'without a signature': async () => unsigned(await provider.forge({ scope: 'system/*.rs' }), { alg: 'none' }),
		'signed with the public key as a secret': async () => hmac(provider, await provider.forge({ scope: 'system/*.rs' })),
		'signed with another key of the same name': async () => {
			const kid = String(decodeProtectedHeader(await provider.forge({})).kid);
			return provider.forge({ scope: 'system/*.rs' }, { key: await signingKey('RS256', kid) });
		},
		'signed with a key that the issuer does not have': async () =>
			provider.forge({ scope: 'system/*.rs' }, { key: await signingKey('RS256') }),
		'with changed claims': async () => changed(await provider.forge({ scope: 'system/Patient.rs' }), { scope: 'system/*.cruds' }),
		'that is no JWT': async () => 'opaque',
		'that is empty': async () => '',
		'that is not one word': async () => 'a b',
	})) {
		test(`${what} is refused, in the same words as every other`, async () => refused(await ask('/fhir/Patient', bearer(await make()))));
	}

	test('of one site opens no other site, and is refused where two sites would take it', async () => {
		const token = await provider.forge({ scope: 'system/*.rs', tenant: 'south' });
		const add = (site: string, more: object) =>
			addIssuer(product.administration, {
				...{ site, owner: 'owner@example.org', issuer: provider.issuer, audience: jwtAudience, clients: [clientId], ...more },
			});
		await assert.rejects(add('south', {}), /the site 'north' takes the same tokens/);
		const byAudience = await add('south', { audience: 'https://south.test' });
		const southern = await provider.forge({ scope: 'system/*.rs', aud: 'https://south.test' });
		assert.equal((await ask('/fhir/Patient?family=Token&_summary=count', bearer(southern))).body.total, 0);
		assert.equal((await ask('/fhir/Patient?family=Token&_summary=count', bearer(token))).body.total, 1);
		refused(await ask('/fhir/Patient', bearer(await provider.forge({ scope: 'system/*.rs', aud: ['https://south.test', jwtAudience] }))));
		await removeIssuer(product.administration, byAudience.id);
		refused(await ask('/fhir/Patient', bearer(southern)));
	});

	test('comes alone: with an API key, or twice, it is refused', async () => {
		const token = await provider.forge({ scope: 'system/*.rs' });
		assert.equal((await ask('/fhir/Patient', { ...bearer(token), 'X-API-Key': northKey })).status, 400);
		refused(await ask('/fhir/Patient', { Authorization: 'Basic bm9ydGg6c2VjcmV0' }));
		const bare = await ask('/fhir/Patient', {});
		assert.equal(bare.headers.get('www-authenticate'), 'X-API-Key, Bearer');
		assert.deepEqual(bare.body.issue, unauthenticated);
	});

	test('is refused with its next request when its row is disabled; where no other is left, nothing asks for a token any more', async () => {
		const token = await provider.forge({ scope: 'system/*.rs' });
		const [row] = await listIssuers(product.administration);
		assert.ok(row);
		await setIssuer(product.administration, { id: row.id, active: false });
		const answer = await ask('/fhir/Patient', bearer(token));
		assert.equal(answer.status, 401);
		assert.equal(answer.headers.get('www-authenticate'), 'X-API-Key');
		assert.equal((await ask('/fhir/Patient', { 'X-API-Key': northKey, Authorization: 'Basic cHJveHk6eA==' })).status, 200);
		assert.equal((await ask('/fhir/.well-known/smart-configuration', {})).status, 401);
		await setIssuer(product.administration, { id: row.id, active: true });
		assert.equal((await ask('/fhir/Patient', bearer(token))).status, 200);
	});

	test('outlives its key for no longer than the provider publishes it, and a new key is taken at once', async () => {
		const before = await provider.token('system/*.cruds');
		assert.equal((await ask('/fhir/Patient', bearer(before))).status, 200);
		await provider.rollOver();
		const token = await provider.token('system/*.cruds');
		assert.equal((await ask('/fhir/Patient', bearer(token))).status, 200);
		refused(await ask('/fhir/Patient', bearer(before)));
	});
});

describe('the scopes of an access token', () => {
	let patient = '';
	let observation = '';
	const as = async (scope: string) => bearer(await provider.forge({ scope }));
	const json = (value: object) => JSON.stringify(value);
	const person = { resourceType: 'Patient', identifier: [{ system: 'urn:mrn', value: 'S1' }], name: [{ family: 'Scope' }] };
	const result = () => ({
		...{ resourceType: 'Observation', status: 'final', code: { text: 'Hb' } },
		subject: { reference: `Patient/${patient}` },
	});
	const bundle = (type: string, ...entry: object[]) => json({ resourceType: 'Bundle', type, entry });
	const post = (resource: object, more: object = {}) => ({
		resource,
		request: { method: 'POST', url: String((resource as { resourceType: string }).resourceType), ...more },
	});

	before(async () => {
		const write = async (resource: object, type: string) => {
			const made = await ask(`/fhir/${type}`, { 'X-API-Key': northKey, ...fhirJson }, { method: 'POST', body: json(resource) });
			assert.equal(made.status, 201);
			return made.body.id;
		};
		patient = await write(person, 'Patient');
		observation = await write(result(), 'Observation');
	});

	const rows: [
		scope: string,
		request: string,
		missing?: string | undefined,
		body?: (() => string) | undefined,
		headers?: Record<string, string>,
	][] = [
		['system/Patient.r', 'GET /fhir/Patient/{p}'],
		['system/Patient.read', 'GET /fhir/Patient/{p}/_history/1'],
		['system/*.rs', 'GET /fhir/Patient/{p}/_history'],
		['system/Patient.s', 'GET /fhir/Patient/{p}', 'system/Patient.r'],
		['system/Patient.s', 'GET /fhir/Patient/{p}/_history', 'system/Patient.r'],
		['system/Patient.r', 'GET /fhir/Patient', 'system/Patient.s'],
		['system/Patient.r', 'GET /fhir/Patient/_history', 'system/Patient.s'],
		['system/Patient.s', 'GET /fhir/Patient'],
		['system/Patient.write', 'GET /fhir/Patient', 'system/Patient.s'],
		['system/Observation.rs', 'GET /fhir/Patient/{p}', 'system/Patient.r'],
		['patient/*.cruds user/*.cruds launch openid', 'GET /fhir/Patient/{p}', 'system/Patient.r'],
		['system/Patient.rs?gender=male', 'GET /fhir/Patient/{p}/_history', 'system/Patient.r'],
		['system/Patient.sr system/patient.rs system/Patient. system/Patient', 'GET /fhir/Patient/{p}', 'system/Patient.r'],
		['', 'GET /fhir/Patient/{p}', 'system/Patient.r'],
		['', 'GET /fhir/metadata'],
		[
			'system/Patient.rs',
			'POST /fhir/Patient/_search',
			undefined,
			() => 'family=Scope',
			{ 'Content-Type': 'application/x-www-form-urlencoded' },
		],
		['system/Observation.rs', 'GET /fhir/Observation?patient.name=Scope', 'system/Patient.s'],
		['system/Observation.rs system/Patient.s', 'GET /fhir/Observation?patient.name=Scope'],
		['system/Patient.rs', 'GET /fhir/Patient?_has:Observation:patient:status=final', 'system/Observation.s'],
		['system/Observation.rs', 'GET /fhir/Observation?_include=Observation:patient', 'system/Patient.r'],
		['system/Observation.rs system/Patient.r', 'GET /fhir/Observation?_include=Observation:patient'],
		['system/Patient.rs', 'GET /fhir/Patient?_revinclude=Observation:patient', 'system/Observation.s'],
		['system/Observation.rs', 'GET /fhir/Observation?_include:iterate=Observation:patient', 'system/Patient.r'],
		['system/Patient.rs', 'GET /fhir/Patient?_revinclude:iterate=Observation:patient', 'system/Observation.s'],
		['system/Patient.rs system/Observation.rs', 'GET /fhir/Patient?_revinclude:iterate=Observation:patient'],
		['system/Observation.s', 'GET /fhir/Patient/{p}/Observation'],
		['system/Patient.rs', 'GET /fhir/Patient/{p}/Observation', 'system/Observation.s'],
		['system/Patient.rs system/Observation.rs', 'GET /fhir/Patient/{p}/$everything', 'system/Condition.s'],
		['system/Patient.rs system/Observation.rs', 'GET /fhir/Patient/{p}/$everything?_type=Patient,Observation'],
		['system/Patient.rs', 'GET /fhir/Patient/{p}/$everything?_type=Patient,Observation', 'system/Observation.s'],
		['system/Observation.rs', 'GET /fhir/Patient/{p}/$everything?_type=Observation', 'system/Patient.r'],
		['system/Patient.rs', 'POST /fhir/Patient', 'system/Patient.c', () => json(person)],
		['system/Patient.c', 'POST /fhir/Patient', undefined, () => json(person)],
		['system/Patient.write', 'POST /fhir/Patient', 'system/Patient.s', () => json(person), { 'If-None-Exist': 'identifier=urn:mrn|S1' }],
		['system/Patient.c', 'PUT /fhir/Patient/{p}', 'system/Patient.u', () => json({ ...person, id: patient })],
		['system/Patient.u', 'PUT /fhir/Patient/{p}', undefined, () => json({ ...person, id: patient })],
		['system/Patient.u', 'PUT /fhir/Patient?identifier=urn:mrn|S1', 'system/Patient.s', () => json(person)],
		['system/Patient.r', 'POST /fhir/Patient/$validate', undefined, () => json(person)],
		['system/Patient.s', 'POST /fhir/Patient/$validate', 'system/Patient.c', () => json(person)],
		['system/Patient.c', 'POST /fhir', 'system/Observation.c', () => bundle('transaction', post(person), post(result()))],
		['system/*.c', 'POST /fhir', 'system/Patient.s', () => bundle('transaction', post(person, { ifNoneExist: 'identifier=urn:mrn|S1' }))],
		[
			'system/*.c',
			'POST /fhir',
			'system/Patient.s',
			() => bundle('transaction', post({ ...result(), subject: { reference: 'Patient?identifier=urn:mrn|S1' } })),
		],
		['system/*.c', 'POST /fhir', undefined, () => bundle('transaction', post(person), post(result()))],
		['system/Patient.rs', 'GET /fhir/$export?_type=Observation', 'system/Observation.rs', undefined, { Prefer: 'respond-async' }],
		['system/Patient.r', 'GET /fhir/$export', 'system/*.rs', undefined, { Prefer: 'respond-async' }],
		['system/Binary.rs', 'GET /fhir/$export?_type=Binary', 'system/*.rs', undefined, { Prefer: 'respond-async' }],
		['system/Patient.rs', 'GET /fhir/Group/none/$export', 'system/Group.r', undefined, { Prefer: 'respond-async' }],
		['system/Patient.cu', 'POST /fhir/$import', 'system/*.c', () => '', { 'Content-Type': 'application/fhir+ndjson' }],
		['system/DocumentReference.r', 'GET /fhir/Binary/none', 'system/Binary.r'],
		['system/Binary.rs', 'GET /fhir/Binary', 'system/*.s'],
		['system/Binary.rs', 'GET /fhir/Binary/_history', 'system/*.s'],
		['system/Binary.rs', 'GET /fhir/Binary/none/_history', 'system/*.r'],
		['system/List.rs system/Binary.rs', 'GET /fhir/List?_include=List:item:Binary', 'system/*.r'],
		['system/*.rs', 'GET /fhir/Binary'],
		['system/ImagingStudy.r', 'GET /dicomweb/studies', 'system/ImagingStudy.s'],
		['system/ImagingStudy.s', 'GET /dicomweb/studies'],
		['system/ImagingStudy.s', 'GET /dicomweb/studies/1.2.3', 'system/ImagingStudy.r'],
		['system/ImagingStudy.s', 'GET /dicomweb/studies/1.2.3/metadata', 'system/ImagingStudy.r'],
		['system/ImagingStudy.s', 'GET /dicomweb/studies/1.2/series/1.3/instances/1.4/frames/1', 'system/ImagingStudy.r'],
		['system/ImagingStudy.s', 'GET /dicomweb/studies/1.2/series/1.3/instances/1.4/bulkdata/none', 'system/ImagingStudy.r'],
		['system/ImagingStudy.rs', 'POST /dicomweb/studies', 'system/ImagingStudy.c', () => '', { 'Content-Type': 'application/dicom' }],
	];
	for (const [scope, request, missing, body, headers] of rows) {
		const [method = '', path = ''] = request.split(' ');
		test(`'${scope}' ${missing === undefined ? 'permits' : `lacks ${missing} for`} ${request}${body && path === '/fhir' ? ` ${body().slice(24, 60)}` : ''}`, async () => {
			const sent = body === undefined ? { method } : { method, body: body() };
			const answer = await ask(path.replace('{p}', patient), { ...fhirJson, ...headers, ...(await as(scope)) }, sent);
			if (missing === undefined) {
				assert.ok(answer.status < 300, `${answer.status} ${JSON.stringify(answer.body)}`);
				return;
			}
			assert.equal(answer.status, 403);
			const text = path.startsWith('/dicomweb') ? answer.body.error : answer.body.issue[0].diagnostics;
			assert.ok(text.includes(`does not have the scope`) && text.split(/[ ,]/).includes(missing), text);
			if (!path.startsWith('/dicomweb')) assert.equal(answer.body.issue[0].code, 'forbidden');
		});
	}

	test('are named in the challenge of the answer 403', async () => {
		const { headers } = await ask('/fhir/Patient', await as('system/Patient.r'));
		assert.equal(headers.get('www-authenticate'), 'Bearer error="insufficient_scope", scope="system/Patient.s"');
	});

	test('refuse the entries of a batch one by one, reads included', async () => {
		const body = bundle(
			'batch',
			post(person),
			post(result()),
			...['Patient', 'Observation'].map((url) => ({ request: { method: 'GET', url } })),
		);
		const { body: answer } = await ask(
			'/fhir',
			{ ...fhirJson, ...(await as('system/Patient.c system/Observation.s')) },
			{ method: 'POST', body },
		);
		const statuses = answer.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3));
		assert.deepEqual(statuses, ['201', '403', '403', '200']);
		assert.equal(answer.entry[0].resource, undefined);
	});

	test('show nothing of a type in the answer to a write', async () => {
		const headers = { 'Content-Type': 'application/json-patch+json', ...(await as('system/Observation.u')) };
		const tested = json([{ op: 'test', path: '/status', value: 'final' }]);
		assert.equal((await ask(`/fhir/Observation/${observation}`, headers, { method: 'PATCH', body: tested })).status, 403);
		const patch = json([{ op: 'replace', path: '/status', value: 'amended' }]);
		const answer = await ask(`/fhir/Observation/${observation}`, headers, { method: 'PATCH', body: patch });
		assert.deepEqual([answer.status, answer.body], [200, undefined]);
	});

	test('limit an export to their types, and its files to the client that asked', async () => {
		const own = await as('system/Observation.rs');
		const started = await ask('/fhir/$export', { ...own, Prefer: 'respond-async' });
		assert.equal(started.status, 202);
		const { pathname } = new URL(started.headers.get('content-location') ?? '');
		let done: Answer | undefined;
		await eventually(async () => {
			done = await ask(pathname, own);
			return done.status === 200;
		}, 'the export');
		const { output } = done?.body ?? {};
		assert.deepEqual(
			output.map(({ type }: { type: string }) => type),
			['Observation'],
		);
		const file = new URL(output[0].url).pathname;
		const fetched = await fetch(`http://127.0.0.1:${product.port('fhir')}${file}`, { headers: own });
		assert.equal(fetched.status, 200);
		await fetched.text();
		assert.equal((await ask(file, await as('system/Observation.s'))).status, 403);
		const byKey = await ask('/fhir/$export', { 'X-API-Key': northKey, Prefer: 'respond-async' });
		assert.equal((await ask(new URL(byKey.headers.get('content-location') ?? '').pathname, own)).status, 404);
		const [event] = await product.rows("select actor from audit_event where action = 'bulk.export' order by id limit 1");
		assert.deepEqual(event, { actor: `token:${clientId}` });
	});
});

describe('.well-known/smart-configuration', () => {
	const path = '/fhir/.well-known/smart-configuration';

	test('leads a client to the provider that all sites have in common, without a key', async () => {
		const { status, body, headers } = await ask(path, {});
		assert.equal(status, 200);
		assert.match(headers.get('content-type') ?? '', /^application\/json/);
		assert.deepEqual(
			[body.token_endpoint, body.jwks_uri, body.introspection_endpoint],
			['/token', '/jwks', '/token/introspection'].map((end) => provider.issuer + end),
		);
		const permissions = ['permission-v1', 'permission-v2', 'permission-patient', 'permission-user'];
		assert.deepEqual(body.capabilities, ['client-confidential-asymmetric', ...permissions]);
		assert.deepEqual(body.grant_types_supported, ['client_credentials']);
		for (const scope of ['system/*.cruds', 'system/Patient.crus', 'system/ImagingStudy.crus'])
			assert.ok(body.scopes_supported.includes(scope), scope);
		assert.ok(body.code_challenge_methods_supported.includes('S256'));
	});

	test('and the capability statement tell of the provider of a site to its keys alone, where there are several', async () => {
		const southern = await addIssuer(product.administration, {
			...{ site: 'south', owner: 'owner@example.org', issuer: 'https://south.test', audience: jwtAudience, clients: [clientId] },
			...{ jwks_url: 'https://south.test/jwks', token_endpoint: 'https://south.test/token' },
		});
		assert.equal((await ask(path, {})).status, 404);
		for (const [key, token] of [
			[northKey, `${provider.issuer}/token`],
			[southKey, 'https://south.test/token'],
		] as const) {
			assert.equal((await ask(path, { 'X-API-Key': key })).body.token_endpoint, token);
			const { security } = (await ask('/fhir/metadata', { 'X-API-Key': key })).body.rest[0];
			assert.equal(security.service[0].coding[0].code, 'SMART-on-FHIR');
			assert.equal(security.extension[0].extension[0].valueUri, token);
		}
		assert.equal((await ask(path, { 'X-API-Key': 'wrong' })).status, 401);
		await removeIssuer(product.administration, southern.id);
	});

	test('and tokens of a key that is not known are answered 503 while the provider is away; known keys go on', async () => {
		const known = bearer(await provider.forge({ scope: 'system/*.rs' }));
		const unknown = bearer(await provider.forge({ scope: 'system/*.rs' }, { key: await signingKey('RS256') }));
		provider.mode = 'fails';
		const answer = await ask('/fhir/Patient', unknown);
		assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5']);
		assert.equal((await ask('/fhir/Patient', known)).status, 200);
	});
});

const unauthenticated = [
	{
		severity: 'error',
		code: 'login',
		diagnostics: 'a valid API key is required in the header X-API-Key, or an access token in the header Authorization',
	},
];
