import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { setSite } from '#administration/sites.ts';
import { fhirOpenApi } from '#fhir/openapi.ts';
import { resources } from '#fhir/resources/index.ts';
import { reportBody } from '#mpps/report.ts';
import type { DicomWebContext } from '#surfaces/dicomweb/context.ts';
import { dicomWebOpenApi } from '#surfaces/dicomweb/openapi.ts';
import { dicomWebRoutes } from '#surfaces/dicomweb/routes.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { eventually, type FhirBody, testService } from '#test/support/service.ts';
import { defaultLimits } from '../../../src/limits.ts';

const origins = ['fhir', 'hl7', 'mpps', 'admin'];

describe('the API reference', () => {
	test('of each origin needs no key, loads nothing from elsewhere, and is valid OpenAPI 3.1 that names the origin', async () => {
		await using service = await testService();
		for (const surface of origins) {
			const base = `http://127.0.0.1:${service.port(surface)}`;
			const page = await fetch(`${base}/api/documentation`);
			assert.equal(page.status, 200);
			assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
			assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
			const html = await page.text();
			assert.doesNotMatch(html, /https?:\/\//);
			for (const [, path = ''] of html.matchAll(/(?:href|src)="([^"]+)"/g)) assert.equal((await fetch(base + path)).status, 200, path);
			const answer = await fetch(`${base}/api/documentation/openapi.json`);
			assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
			const document = (await answer.json()) as FhirBody;
			assert.equal(document.openapi, '3.1.0');
			assert.deepEqual(document.servers, [{ url: base }]);
			const { valid, errors } = await new Validator().validate(document);
			assert.ok(valid, JSON.stringify(errors ?? '').slice(0, 2000));
		}
	});

	test('is 404 where it is switched off', async () => {
		await using service = await testService({ API_DOCUMENTATION: 'false' });
		for (const surface of origins) {
			for (const path of ['/api/documentation', '/api/documentation/openapi.json', '/api/documentation/page.mjs']) {
				assert.equal((await fetch(`http://127.0.0.1:${service.port(surface)}${path}`)).status, 404, path);
			}
		}
	});

	test('describes every interaction and search parameter that the definitions have, and no other', () => {
		const { paths } = fhirOpenApi('1', 'http://h') as FhirBody;
		const others: string[] = paths['/fhir/{type}'].get.parameters.find(({ name }: FhirBody) => name === 'type').schema.enum;
		for (const { type, interactions, search, table } of Object.values(resources)) {
			assert.equal(others.includes(type), table.isShared, type);
			if (table.isShared) continue;
			const parameters = paths[`/fhir/${type}`].get.parameters.map(({ name }: FhirBody) => name);
			for (const name of Object.keys(search)) assert.ok(parameters.includes(name), `${type}?${name}`);
			for (const name of parameters) assert.ok(name.startsWith('_') || Object.hasOwn(search, name), `${type}?${name}`);
			assert.equal('post' in paths[`/fhir/${type}`], interactions.includes('create'));
			assert.equal('put' in paths[`/fhir/${type}/{id}`], interactions.includes('update'));
			assert.equal('patch' in paths[`/fhir/${type}/{id}`], interactions.includes('patch'));
		}
	});

	test('describes every route of DICOMweb', async () => {
		const routes = dicomWebRoutes({ limits: defaultLimits } as Partial<DicomWebContext> as DicomWebContext);
		const served = routes.map(({ method, pattern }) => `${method} ${pattern.replace(/:(\w+)/g, '{$1}')}`).sort();
		const described = Object.entries(dicomWebOpenApi.paths).flatMap(([path, item]) =>
			Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
		);
		assert.deepEqual(described.sort(), served);
		const { paths, tags } = fhirOpenApi('1', 'http://h', dicomWebOpenApi) as FhirBody;
		assert.ok(paths['/dicomweb/studies'].post && paths['/fhir/Patient'].get);
		assert.ok(tags.some(({ name }: FhirBody) => name === 'DICOMweb'));
	});

	test('its examples are taken as they stand', async () => {
		await using service = await testService();
		const { key } = await service.addSite('west');
		const call = fhirClient(service, key);
		await setSite(service.administration, { slug: 'west', report_writes: true });
		const { example: report } = resources.DiagnosticReport;
		await eventually(async () => (await call('POST', '/DiagnosticReport', report)).status === 201, 'the setting');
		for (const { type, interactions, example } of Object.values(resources)) {
			if (interactions.includes('create')) assert.equal((await call('POST', `/${type}`, example)).status, 201, type);
		}
		const document = (await (await fetch(`http://127.0.0.1:${service.port('hl7')}/api/documentation/openapi.json`)).json()) as FhirBody;
		const body = document.paths['/v2/ingest'].post.requestBody.content['text/plain'].example;
		const headers = { 'X-API-Key': key, 'Content-Type': 'text/plain' };
		const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, { method: 'POST', headers, body });
		assert.equal(answer.status, 200, await answer.text());
		const mpps = `http://127.0.0.1:${service.port('mpps')}`;
		const { paths } = (await (await fetch(`${mpps}/api/documentation/openapi.json`)).json()) as FhirBody;
		const { schema, example } = paths['/ingest'].post.requestBody.content['application/json'];
		const sent = {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
			body: JSON.stringify(example),
		};
		assert.equal((await fetch(`${mpps}/ingest`, sent)).status, 200);
		assert.deepEqual(Object.keys(schema.properties), Object.keys(reportBody.shape));
	});
});
