import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { type Json, type JsonObject, parseExact } from '#core/json.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { linkOf } from '#test/support/fhir-sample.ts';
import { bundleDirectory, without } from '#test/support/needs.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

interface Sent {
	resource: JsonObject;
	/** The reference by which it is known here. */
	reference: string;
	status: string;
}

let service: TestService;
let call: FhirCall;
/** What the entries of each file became. */
const sent = new Map<string, Sent[]>();
/** The references that stand here for full URLs, and for references by search. */
const known = new Map<string, string>();

before(async () => {
	if (without('bundles')) return;
	service = await testService();
	call = fhirClient(service, (await service.addSite('west')).key);
});

after(async () => {
	await service?.[Symbol.asyncDispose]();
});

function files(): string[] {
	const names = readdirSync(bundleDirectory ?? '').filter((name) => name.endsWith('.json'));
	// Hospitals and practitioners come first, since patients refer to them.
	return names.sort((left, right) => Number(right.startsWith('0-')) - Number(left.startsWith('0-')) || (left < right ? -1 : 1));
}

const textOf = (name: string) => readFileSync(join(bundleDirectory ?? '', name), 'utf8');
const entriesOf = (name: string) => parseExact(textOf(name))['entry'] as JsonObject[];

async function post(name: string): Promise<void> {
	const reply = await call('POST', '', textOf(name));
	assert.equal(reply.status, 200, `${name}: ${reply.text.slice(0, 2000)}`);
	const answers: FhirBody[] = reply.body.entry;
	const entries = entriesOf(name);
	assert.equal(answers.length, entries.length);
	sent.set(
		name,
		entries.map(({ fullUrl, resource }, index) => {
			const { status, location, outcome } = answers[index].response;
			assert.match(status, /^20[01]/, `${name}, entry ${index + 1}: ${status} ${JSON.stringify(outcome ?? answers[index].resource)}`);
			const reference = location.split('/_history/')[0] as string;
			if (typeof fullUrl === 'string') known.set(fullUrl, reference);
			const { resourceType, identifier = [] } = resource as JsonObject;
			for (const { system, value } of identifier as JsonObject[]) known.set(`${resourceType}?identifier=${system}|${value}`, reference);
			return { resource: resource as JsonObject, reference, status };
		}),
	);
}

/** Rewrites references as the specification of transactions asks. An identifier that is equal to a full URL stays. */
function rewritten(value: Json, member = ''): Json {
	if (typeof value === 'string') return member === 'reference' ? (known.get(value) ?? value) : value;
	if (Array.isArray(value)) return value.map((item) => rewritten(item));
	if (typeof value !== 'object' || value === null || 'rawJSON' in value) return value;
	return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewritten(item, name)]));
}

const content = ({ id: _id, meta: _meta, ...rest }: JsonObject) => JSON.stringify(rest);

describe('bundles of Synthea', { skip: without('bundles') }, () => {
	test('are refused whole where the site does not let clients write reports, and the answer names the setting', async () => {
		const name = files().find((file) => !file.startsWith('0-')) ?? '';
		const { status, text } = await call('POST', '', textOf(name));
		assert.equal(status, 405, text);
		assert.match(text, /report_writes/);
		assert.equal((await call('GET', '/Patient?_summary=count')).body.total, 0);
	});

	test('go in whole where it does', async () => {
		await setSite(service.administration, { slug: 'west', report_writes: true });
		const any = { resourceType: 'DiagnosticReport', status: 'final' };
		await eventually(async () => (await call('POST', '/DiagnosticReport', any)).status === 400, 'the setting');
		for (const name of files()) await post(name);
	});

	test('and every resource is read as it was sent, digit for digit, but for id, meta and references', async () => {
		for (const [name, resources] of sent) {
			for (const { resource, reference } of resources) {
				const { status, text } = await call('GET', `/${reference}`);
				assert.equal(status, 200, `${name}: ${reference}`);
				assert.equal(content(parseExact(text)), content(rewritten(resource) as JsonObject), `${name}: ${reference}`);
			}
		}
	});

	test('and are counted as they were sent', async () => {
		const all = new Map([...sent.values()].flat().map(({ reference }) => [reference, reference.split('/')[0] ?? '']));
		for (const type of new Set(all.values())) {
			const expected = [...all.values()].filter((other) => other === type).length;
			assert.equal((await call('GET', `/${type}?_summary=count`)).body.total, expected, type);
		}
	});

	test('and the compartment of each patient is whole', async () => {
		for (const [name, resources] of sent) {
			const patient = resources.find(({ resource }) => resource['resourceType'] === 'Patient');
			if (patient === undefined) continue;
			const expected = resources.filter(({ resource }) => {
				const { patient_id: id } =
					definitionOf(String(resource['resourceType']))?.table.statedLinks(rewritten(resource) as JsonObject) ?? {};
				return typeof id === 'string';
			});
			const found = new Set<string>();
			let path: string | undefined = `/${patient.reference}/$everything?_count=500`;
			while (path !== undefined) {
				const reply = await call('GET', path);
				assert.equal(reply.status, 200, reply.text.slice(0, 500));
				for (const { resource, search } of reply.body.entry ?? []) {
					const reference = `${resource.resourceType}/${resource.id}`;
					if (search.mode === 'match') found.add(reference);
					// What the record refers to beside: of nobody's record, and sent with it.
					else assert.equal(definitionOf(resource.resourceType)?.table.compartment, 'none', reference);
				}
				path = linkOf(reply, 'next')?.replace(/^.*\/fhir/, '');
			}
			assert.deepEqual([...found].sort(), [patient, ...expected].map(({ reference }) => reference).sort(), name);
		}
	});
});
