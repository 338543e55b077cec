import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const origins = ['fhir', 'hl7', 'mpps', 'admin'];

interface Described {
	path: string;
	method: string;
	operation: FhirBody;
}

async function documentOf(service: TestService, surface: string): Promise<FhirBody> {
	return (await fetch(`http://127.0.0.1:${service.port(surface)}/api/documentation/openapi.json`)).json();
}

function operationsOf(document: FhirBody): Described[] {
	return Object.entries(document.paths as Record<string, Record<string, FhirBody>>).flatMap(([path, item]) =>
		Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
	);
}

/** What an OpenAPI document may not have, though its schema lets it. */
function faultsOf(document: FhirBody): string[] {
	const faults: string[] = [];
	const ids = new Set<string>();
	for (const { path, method, operation } of operationsOf(document)) {
		const at = `${method} ${path}`;
		const { operationId, summary, tags, responses, parameters = [], requestBody } = operation;
		if (!operationId || ids.has(operationId)) faults.push(`${at}: operationId ${operationId}`);
		ids.add(operationId);
		if (!summary) faults.push(`${at}: no summary`);
		if (!tags?.length) faults.push(`${at}: no tag`);
		if (!Object.keys(responses).some((status) => /^(2\d\d|303)$/.test(status))) faults.push(`${at}: no success`);
		const named = (place: string) => parameters.filter((one: FhirBody) => one.in === place).map(({ name }: FhirBody) => name);
		const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
		if (named('path').sort().join() !== inPath.sort().join()) faults.push(`${at}: path parameters ${named('path')}`);
		for (const place of ['query', 'header'])
			if (new Set(named(place)).size !== named(place).length) faults.push(`${at}: a ${place} parameter twice`);
		if (requestBody !== undefined && (method === 'GET' || method === 'DELETE')) faults.push(`${at}: has a body`);
		for (const scheme of [...(operation.security ?? []), ...(document.security ?? [])].flatMap((one: object) => Object.keys(one)))
			if (document.components.securitySchemes[scheme] === undefined) faults.push(`${at}: no security scheme ${scheme}`);
	}
	for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
		const target = pointer.split('/').reduce((node: FhirBody, part) => node?.[part], document);
		if (target === undefined) faults.push(`no ${pointer}`);
	}
	return faults;
}

/** Every example of a body in a document, sent as it stands; answers what was not answered as the document says. */
async function sendExamples(service: TestService, surface: string, key: string): Promise<{ sent: number; refused: string[] }> {
	const document = await documentOf(service, surface);
	const ids = new Map<string, string>();
	const refused: string[] = [];
	let sent = 0;
	for (const { path: pattern, method, operation } of operationsOf(document)) {
		const ofType = operation.parameters?.find(({ name }: FhirBody) => name === 'type');
		const path = pattern.replace('{type}', ofType?.example);
		for (const [type, { example }] of Object.entries(operation.requestBody?.content ?? {}) as [string, FhirBody][]) {
			if (example === undefined) continue;
			sent++;
			const resource = /^\/fhir\/(\w+)/.exec(path)?.[1] ?? '';
			const id = ids.get(resource) ?? '';
			const body = typeof example === 'string' ? example : JSON.stringify(method === 'PUT' ? { ...example, id } : example);
			const answer = await fetch(`http://127.0.0.1:${service.port(surface)}${path.replace('{id}', id)}`, {
				method,
				headers: { 'X-API-Key': key, 'Content-Type': type },
				body,
			});
			const text = await answer.text();
			if (!answer.ok || operation.responses[answer.status] === undefined)
				refused.push(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
			else if (method === 'POST' && path === `/fhir/${resource}`) ids.set(resource, JSON.parse(text).id);
		}
	}
	return { sent, refused };
}

describe('the API references', () => {
	test('keep the rules that the schema of OpenAPI does not tell', async () => {
		await using service = await testService();
		for (const surface of origins) assert.deepEqual(faultsOf(await documentOf(service, surface)), [], surface);
	});

	test('describe what is served: every path takes the methods that it is described with, and on most origins no other', async () => {
		await using service = await testService();
		for (const surface of origins) {
			const document = await documentOf(service, surface);
			for (const [path, item] of Object.entries(document.paths as Record<string, object>)) {
				const described = Object.keys(item).map((method) => method.toUpperCase());
				// Other patterns fit `/clients/{id}/keys` as well; a path without parameters has no methods but its own.
				const fitting = Object.keys(document.paths).filter(
					(other) => path.includes('{') && other !== path && new RegExp(`^${other.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
				);
				described.push(...fitting.flatMap((other) => Object.keys(document.paths[other]).map((method) => method.toUpperCase())));
				if (described.includes('GET')) described.push('HEAD');
				const url = `http://127.0.0.1:${service.port(surface)}${path.replaceAll(/\{\w+\}/g, 'x')}`;
				const allowed = (await fetch(url, { method: 'OPTIONS' })).headers.get('allow')?.split(', ') ?? [];
				for (const method of described) assert.ok(allowed.includes(method), `${surface}: ${method} ${path}`);
				// The routes of FHIR are of all resource types; what each allows, the test of its definitions tells.
				if (surface !== 'fhir') assert.deepEqual([...allowed].sort(), [...new Set(described)].sort(), `${surface}: ${path}`);
			}
		}
	});

	test('have examples that are taken as they stand', async () => {
		await using service = await testService();
		const { key } = await service.addSite('west');
		await setSite(service.administration, { slug: 'west', report_writes: true });
		for (const surface of ['fhir', 'hl7', 'mpps']) {
			const { sent, refused } = await sendExamples(service, surface, key);
			assert.deepEqual(refused, [], surface);
			assert.ok(sent > 0, surface);
		}
	});
});
