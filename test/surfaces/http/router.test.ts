import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '#surfaces/http/message.ts';
import { Router } from '#surfaces/http/router.ts';

const route = (method: Route['method'], pattern: string): Route => ({ method, pattern, handle: () => ({ status: 200 }) });
const router = new Router([
	route('GET', '/fhir/:type/:id'),
	route('PUT', '/fhir/:type/:id'),
	route('GET', '/fhir/:type/_history'),
	route('POST', '/fhir/:type/_search'),
	route('GET', '/fhir'),
	route('GET', '/fhir/metadata'),
	route('DELETE', '/fhir/:type'),
	route('GET', '/sites/:slug/keys/:key'),
	{ ...route('GET', '/slashed/:id'), mayEndInSlash: true },
]);

const cases: [string, string, string][] = [
	['GET', '/fhir/Patient/1', '/fhir/:type/:id type=Patient id=1'],
	['HEAD', '/fhir/Patient/1', '/fhir/:type/:id type=Patient id=1'],
	['PUT', '/fhir/Patient/1', '/fhir/:type/:id type=Patient id=1'],
	['GET', '/fhir/Patient/_history', '/fhir/:type/_history type=Patient'],
	['POST', '/fhir/Patient/_search', '/fhir/:type/_search type=Patient'],
	['PUT', '/fhir/Patient/_history', '/fhir/:type/:id type=Patient id=_history'],
	['GET', '/sites/north/keys/a%2Fb', '/sites/:slug/keys/:key slug=north key=a/b'],
	['GET', '/sites/north/keys/caf%C3%A9', '/sites/:slug/keys/:key slug=north key=café'],
	['GET', '/sites/north/keys/%E0%A4', 'no such path'],
	['DELETE', '/fhir/Patient/1', 'allowed: GET, HEAD, PUT'],
	['DELETE', '/fhir/Patient/_search', 'allowed: GET, HEAD, POST, PUT'],
	['POST', '/fhir', 'allowed: GET, HEAD'],
	['GET', '/fhir/metadata', '/fhir/metadata'],
	['DELETE', '/fhir/metadata', 'allowed: GET, HEAD'],
	['DELETE', '/fhir/Patient', '/fhir/:type type=Patient'],
	['GET', '/fhir/Patient', 'allowed: DELETE'],
	['GET', '/fhir/', 'no such path'],
	['GET', '/fhir//1', 'no such path'],
	['GET', '/fhir/Patient/', 'no such path'],
	['GET', '/slashed/1/', '/slashed/:id id=1 of /slashed/1'],
	['GET', '/slashed/1//', 'no such path'],
	['POST', '/slashed/1/', 'allowed: GET, HEAD'],
	['GET', '/FHIR/Patient/1', 'no such path'],
	['GET', '/fhir/Patient/1/2', 'no such path'],
	['GET', '', 'no such path'],
];
for (const [method, path, expected] of cases) {
	test(`${method} ${path === '' ? 'nothing' : path}: ${expected}`, () => {
		const match = router.match(method, path);
		if (match.kind === 'path') assert.equal('no such path', expected);
		else if (match.kind === 'method') assert.equal(`allowed: ${match.allow}`, expected);
		else {
			const parameters = Object.entries(match.params).map(([name, value]) => `${name}=${value}`);
			const cut = match.path === path ? [] : [`of ${match.path}`];
			assert.equal([match.route.pattern, ...parameters, ...cut].join(' '), expected);
		}
	});
}
