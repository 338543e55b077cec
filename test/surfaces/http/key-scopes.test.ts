import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createKey, listKeys, rotateKey, setKey } from '#administration/keys.ts';
import { type KeyScope, keyScopes } from '#record/key-scopes.ts';
import { adt } from '#test/support/adt.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

const methods = ['get', 'post', 'put', 'patch', 'delete'];
const owner = 'owner@example.org';

describe('API keys with scopes, an end and a successor', () => {
	let service: TestService;
	const limited = new Map<KeyScope, string>();
	before(async () => {
		service = await testService();
		await service.addSite('north');
		for (const scope of keyScopes) limited.set(scope, (await created({ scopes: [scope] })).key);
	});
	after(() => service[Symbol.asyncDispose]());

	const created = (more: { scopes?: KeyScope[]; expires?: string } = {}) =>
		createKey(service.administration, { site: 'north', owner, label: '', ...more });
	const call = async (surface: string, path: string, key: string, init: RequestInit = {}) => {
		const headers = { 'X-API-Key': key, ...init.headers };
		const answer = await fetch(`http://127.0.0.1:${service.port(surface)}${path}`, { ...init, headers });
		return { status: answer.status, text: await answer.text(), headers: answer.headers };
	};
	const posted = (body: object | string, type = 'application/fhir+json'): RequestInit => ({
		method: 'POST',
		headers: { 'Content-Type': type },
		body: typeof body === 'string' ? body : JSON.stringify(body),
	});

	for (const surface of ['fhir', 'hl7', 'mpps'])
		test(`on ${surface} every described operation refuses the keys that lack the scope that it names, and no other`, async () => {
			const document: FhirBody = JSON.parse((await call(surface, '/api/documentation/openapi.json', '')).text);
			const open: string[] = [];
			for (const [path, item] of Object.entries<FhirBody>(document.paths)) {
				for (const method of methods.filter((name) => name in item)) {
					const [{ key: named = [] }] = item[method].security ?? document.security;
					if (named.length === 0) open.push(`${method} ${path}`);
					const other = keyScopes[(keyScopes.indexOf(named[0]) + 1) % keyScopes.length];
					for (const [scope, key] of [...limited].filter(([name]) => name === named[0] || name === other)) {
						const at = path.replace(/\{\w+\}/g, '1');
						const { status, text } = await call(surface, at, key, {
							method: method.toUpperCase(),
							headers: { 'Content-Type': 'text/none' },
						});
						const isScoped = named.length > 0;
						assert.equal(status === 403 && isScoped, isScoped && !named.includes(scope), `${scope}: ${method} ${path}: ${status}`);
						if (isScoped && status === 403) assert.ok(text.includes(`the API key does not have the scope ${named[0]}`), text);
					}
				}
			}
			// Here the content decides what a key needs: `$validate` the permission to read or write, a Bundle those of its entries.
			const known = ['get /fhir/metadata', 'get /fhir/.well-known/smart-configuration', 'post /fhir'];
			assert.deepEqual(open.filter((name) => !name.endsWith('$validate')).sort(), surface === 'fhir' ? known.sort() : []);
		});

	test('a limited key does what its scope says', async () => {
		const [read = '', write = '', ingest = '', imaging = ''] = limited.values();
		const patient = { resourceType: 'Patient', active: true };
		assert.equal((await call('fhir', '/fhir/Patient', write, posted(patient))).status, 201);
		assert.equal((await call('fhir', '/fhir/Patient', read)).status, 200);
		assert.equal((await call('fhir', '/fhir/Patient/_search', read, posted('', 'application/x-www-form-urlencoded'))).status, 200);
		assert.equal((await call('hl7', '/v2/ingest', ingest, posted(adt('1', 'A', 'Doe'), 'text/plain'))).status, 200);
		assert.equal((await call('fhir', '/dicomweb/studies', imaging, { headers: { Accept: 'application/dicom+json' } })).status, 200);
		const refused = await call('fhir', '/fhir/Patient', ingest);
		assert.equal(JSON.parse(refused.text).issue[0].code, 'forbidden');
		assert.equal(refused.headers.get('www-authenticate'), null);
	});

	test('an entry of a Bundle needs the scope of its own interaction', async () => {
		const bundle = {
			resourceType: 'Bundle',
			type: 'batch',
			entry: [
				{ request: { method: 'GET', url: 'Patient' } },
				{ resource: { resourceType: 'Patient' }, request: { method: 'POST', url: 'Patient' } },
			],
		};
		const statuses = async (scope: KeyScope) => {
			const { text } = await call('fhir', '/fhir', limited.get(scope) ?? '', posted(bundle));
			return JSON.parse(text).entry.map(({ response }: FhirBody) => response.status.slice(0, 3));
		};
		assert.deepEqual(await statuses('read'), ['200', '403']);
		assert.deepEqual(await statuses('write'), ['403', '201']);
		assert.deepEqual(await statuses('imaging'), ['403', '403']);
	});

	test('scopes are changed and taken away on open connections', async () => {
		const { id, key } = await created();
		assert.equal((await call('fhir', '/fhir/Patient', key)).status, 200);
		await setKey(service.administration, { id, scopes: ['write', 'ingest'] });
		assert.equal((await call('fhir', '/fhir/Patient', key)).status, 403);
		await setKey(service.administration, { id, scopes: [] });
		assert.equal((await call('fhir', '/fhir/Patient', key)).status, 200);
	});

	test('an expired key is answered like an unknown one, and one that never was limited goes on', async () => {
		const { id, key } = await created({ expires: '1h' });
		assert.equal((await call('fhir', '/fhir/Patient', key)).status, 200);
		await service.rows(
			`with ended as (update api_key set expires_at = now() - interval '1 second' where id = $1)
			update access_version set version = version + 1`,
			[id],
		);
		await eventually(async () => (await call('fhir', '/fhir/Patient', key)).status === 401, 'the end of the key');
		const [expired, unknown] = [await call('fhir', '/fhir/Patient', key), await call('fhir', '/fhir/Patient', 'nonsense')];
		assert.deepEqual(JSON.parse(expired.text), JSON.parse(unknown.text));
		assert.equal((await listKeys(service.administration)).find((one) => one.id === id)?.warning, 'it has expired');
	});

	test('a rotated key and its successor are both valid until the overlap is over', async () => {
		const { id, key } = await created({ scopes: ['read'] });
		const rotated = await rotateKey(service.administration, { id, overlap: '1h' });
		for (const one of [key, rotated.key]) assert.equal((await call('fhir', '/fhir/Patient', one)).status, 200);
		assert.equal((await call('fhir', '/fhir/Patient', rotated.key, posted({ resourceType: 'Patient' }))).status, 403);
		const last = await rotateKey(service.administration, { id: rotated.id, overlap: '0m' });
		assert.equal((await call('fhir', '/fhir/Patient', rotated.key)).status, 401);
		assert.equal((await call('fhir', '/fhir/Patient', last.key)).status, 200);
	});

	test('keys that soon expire are counted for the alert', async () => {
		await created({ expires: '2m' });
		const { id } = await created({ expires: '1h' });
		await service.rows(
			`with aged as (update api_key set created_at = now() - interval '9 days' where id = $1)
			update access_version set version = version + 1`,
			[id],
		);
		const gauge = async () => /^tributary_api_keys_expiring (\d+)$/m.exec((await call('ops', '/metrics', '')).text)?.[1];
		await eventually(async () => (await gauge()) === '1', 'the gauge');
		const warnings = (await listKeys(service.administration)).flatMap(({ warning }) =>
			warning?.includes('expires soon') ? [warning] : [],
		);
		assert.equal(warnings.length, 1);
	});
});
