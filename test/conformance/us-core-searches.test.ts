import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { evalFhirPathTyped, type TypedValue, toTypedValue } from '@medplum/core';
import { setSite } from '#administration/sites.ts';
import { dateRange } from '#core/date-range.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { matchesDate, periodOf } from '#test/support/naive-search.ts';
import { indexR4 } from '#test/support/r4-structures.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { usCoreContext, usCoreRecords } from '#test/support/us-core-records.ts';
import { type UsCoreParameter, type UsCoreType, usCoreTypes } from '#test/support/us-core-searches.ts';

/**
 * Every search that US Core 6.1.0 says a server SHALL or SHOULD take, alone and combined, through the socket. The list is generated from its
 * capability statement, and what each has to find is told by the FHIRPath expression of its own SearchParameter.
 */

indexR4();

let service: TestService;
let fhir: FhirCall;
const held = new Map<string, FhirBody[]>();

const searched = Object.entries(usCoreTypes).filter(([, { searches }]) => searches.length > 0);

before(async () => {
	service = await testService();
	fhir = fhirClient(service, (await service.addSite('west')).key);
	await setSite(service.administration, { slug: 'west', report_writes: true });
	for (const [type, { wanted, others }] of Object.entries(usCoreRecords)) {
		const rows = [
			{ ...wanted, id: 'wanted' },
			...Object.entries(others).map(([name, more]) => ({ ...wanted, ...more, id: `other-${name}` })),
		];
		held.set(
			type,
			rows.map((row) => ({ resourceType: type, ...row })),
		);
	}
	for (const resource of usCoreContext) held.set(resource.resourceType, [...(held.get(resource.resourceType) ?? []), resource]);
	const targets = searched.filter(([, { reverseIncludes }]) => reverseIncludes.includes('Provenance:target')).map(([type]) => type);
	held.set(
		'Provenance',
		targets.map((type) => ({
			resourceType: 'Provenance',
			id: `of-${type}`,
			target: [{ reference: `${type}/wanted` }],
			recorded: '2024-03-05T11:00:00Z',
			agent: [{ who: { reference: 'Practitioner/wanted' } }],
		})),
	);
	const entry = [...held.values()].flat().map((resource) => ({
		resource,
		request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
	}));
	const { status, text } = await fhir('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
	assert.equal(status, 200, text);
});

after(async () => {
	await service?.[Symbol.asyncDispose]();
});

const valuesOf = ({ expression }: UsCoreParameter, resource: FhirBody): TypedValue[] =>
	evalFhirPathTyped(expression, [toTypedValue(resource)]);

/** The tokens of a value, as `system|code`; a code of R4 has no system in the resource. */
function tokensOf({ value }: TypedValue): string[] {
	const item = value as FhirBody;
	if (typeof item !== 'object') return [String(item)];
	return (item.coding ?? [item]).map((coding: FhirBody) => [coding.system, coding.code ?? coding.value].filter(Boolean).join('|'));
}

function textsOf({ value }: TypedValue): string[] {
	const item = value as FhirBody;
	if (typeof item === 'string') return [item];
	return [item.family, ...(item.given ?? []), ...(item.line ?? []), item.city, item.state, item.postalCode, item.country].filter(Boolean);
}

const referenceOf = ({ value }: TypedValue): string => (typeof value === 'string' ? value : (value as FhirBody).reference);

function rangeOf({ value }: TypedValue) {
	return typeof value === 'string' ? dateRange(value) : periodOf(value as FhirBody);
}

function fits(parameter: UsCoreParameter, resource: FhirBody, wanted: string): boolean {
	const values = valuesOf(parameter, resource);
	switch (parameter.type) {
		case 'token':
			return values.flatMap(tokensOf).some((token) => token === wanted || (!wanted.includes('|') && token.endsWith(`|${wanted}`)));
		case 'reference':
			return values.map(referenceOf).some((text) => text === wanted || text.endsWith(`/${wanted}`));
		case 'string':
			return values.flatMap(textsOf).some((text) => text.toLowerCase().startsWith(wanted.toLowerCase()));
		case 'date':
			return values.some((value) => matchesDate(rangeOf(value), wanted));
	}
}

/** Each way in which a parameter may be asked for what the wanted resource has; each is a list, as a parameter may come several times. */
function waysOf(type: string, name: string, parameter: UsCoreParameter): string[][] {
	const [wanted, ...others] = held.get(type) ?? [];
	const [value] = valuesOf(parameter, wanted);
	assert.ok(value !== undefined, `${type} has no ${name}`);
	switch (parameter.type) {
		case 'token': {
			const [token = ''] = tokensOf(value);
			const [further = token] = others.flatMap((other) => valuesOf(parameter, other).flatMap(tokensOf)).filter((other) => other !== token);
			const bare = token.slice(token.lastIndexOf('|') + 1);
			return [[bare], [token], ...(parameter.multipleOr ? [[`${token},${further}`]] : [])];
		}
		case 'reference': {
			const text = referenceOf(value);
			return text.includes(':') ? [[text]] : [[text.slice(text.indexOf('/') + 1)], [text]];
		}
		case 'string': {
			const [text = ''] = textsOf(value);
			return [[text], [text.slice(0, 3).toUpperCase()]];
		}
		case 'date': {
			const day = new Date(rangeOf(value)?.startMs ?? 0).toISOString().slice(0, 10);
			const compared = parameter.comparators.flatMap((prefix) => [[`${prefix}${day}`], [`${prefix}2024-04-01`]]);
			return [[day], ...compared, ...(parameter.multipleAnd ? [[`ge${day}`, `le${day}`]] : [])];
		}
	}
}

/** Asks for each parameter in each of its ways once, the others meanwhile in theirs. */
function queriesOf(type: string, { parameters }: UsCoreType, names: readonly string[]): [string, string][][] {
	const ways = names.map((name) => {
		const parameter = parameters[name];
		assert.ok(parameter !== undefined, `${type}.${name}`);
		return { name, ways: waysOf(type, name, parameter) };
	});
	const most = Math.max(...ways.map((one) => one.ways.length));
	return Array.from({ length: most }, (_, turn) =>
		ways.flatMap(({ name, ways: list }) => (list[turn % list.length] ?? []).map((value): [string, string] => [name, value])),
	);
}

const idsOf = ({ body }: { body: FhirBody }): string[] =>
	(body.entry ?? []).map(({ resource }: FhirBody) => `${resource.resourceType}/${resource.id}`).sort();

describe('the searches that US Core asks of a server', () => {
	test('are those of 24 types, 106 in number', () => {
		assert.equal(searched.length, 24);
		assert.equal(searched.flatMap(([, { searches }]) => searches).length, 106);
	});

	for (const [type, asked] of searched) {
		test(`${type}: ${asked.searches.map((names) => names.join(' + ')).join(', ')}`, async () => {
			const rows = held.get(type) ?? [];
			for (const names of asked.searches) {
				for (const [turn, query] of queriesOf(type, asked, names).entries()) {
					const expected = rows
						.filter((row) =>
							query.every(([name, value]) => {
								const parameter = asked.parameters[name];
								return parameter !== undefined && value.split(',').some((one) => fits(parameter, row, one));
							}),
						)
						.map(({ id }) => `${type}/${id}`)
						.sort();
					const form = new URLSearchParams([...query, ['_count', '100']]).toString();
					const reply =
						turn % 2 === 0
							? await fhir('GET', `/${type}?${form}`)
							: await fhir('POST', `/${type}/_search`, form, { 'Content-Type': 'application/x-www-form-urlencoded' });
					assert.equal(reply.status, 200, `${form}: ${reply.text}`);
					assert.deepEqual(idsOf(reply), expected, `${type}?${form}`);
				}
				// Records that differ in a parameter that is asked for are left out, so no search finds everything.
				const [first] = queriesOf(type, asked, names);
				const reply = await fhir('GET', `/${type}?${new URLSearchParams(first).toString()}&_count=100`);
				assert.ok(idsOf(reply).includes(`${type}/wanted`) && idsOf(reply).length < rows.length, `${type}?${names.join('&')}`);
			}
		});

		if (asked.includes.length + asked.reverseIncludes.length === 0) continue;
		test(`${type}: ${[...asked.includes, ...asked.reverseIncludes].join(', ')}`, async () => {
			const [wanted] = held.get(type) ?? [];
			for (const include of asked.includes) {
				const [, name = '', target] = include.split(':');
				const texts = JSON.stringify(wanted).matchAll(/"reference":"([^"]+)"/g);
				const named = { participant: 'participant', medication: 'medicationReference' }[name] ?? name;
				const within = JSON.stringify(wanted[named]);
				const expected = [...texts].map(([, text = '']) => text).filter((text) => within.includes(`"${text}"`));
				const reply = await fhir('GET', `/${type}?_id=wanted&_include=${include}`);
				const fitting = expected.filter((text) => target === undefined || text.startsWith(`${target}/`));
				assert.ok(fitting.length > 0, include);
				assert.deepEqual(idsOf(reply), [...new Set([`${type}/wanted`, ...fitting])].sort(), include);
			}
			for (const include of asked.reverseIncludes) {
				const reply = await fhir('GET', `/${type}?_id=wanted&_revinclude=${include}`);
				assert.deepEqual(idsOf(reply), [`Provenance/of-${type}`, `${type}/wanted`].sort());
				const none = (held.get(type) ?? [])[1];
				assert.deepEqual(idsOf(await fhir('GET', `/${type}?_id=${none.id}&_revinclude=${include}`)), [`${type}/${none.id}`]);
			}
		});
	}

	test('and that it may take of a Patient: race, ethnicity and gender identity, each in its own extension', async () => {
		const others = (held.get('Patient') ?? []).filter(({ extension }) => extension?.length === 3).map(({ id }) => `Patient/${id}`);
		assert.ok(others.length > 1);
		for (const query of ['race=2106-3', 'ethnicity=urn:oid:2.16.840.1.113883.6.238|2186-5', 'gender-identity=446141000124107']) {
			assert.deepEqual(idsOf(await fhir('GET', `/Patient?${query}`)), others.sort(), query);
		}
		assert.deepEqual(idsOf(await fhir('GET', '/Patient?race=2186-5')), ['Patient/other-race']);
		assert.deepEqual(idsOf(await fhir('GET', '/Patient?ethnicity=2106-3')), []);
	});

	test('stand in the capability statement with the interactions and includes that go with them', async () => {
		const { body } = await fhir('GET', '/metadata');
		const missing: string[] = [];
		for (const [type, asked] of Object.entries(usCoreTypes)) {
			if (asked.interactions.length === 0) continue;
			const served = body.rest[0].resource.find((one: FhirBody) => one.type === type) ?? {};
			const codes = (served.interaction ?? []).map(({ code }: FhirBody) => code);
			missing.push(...asked.interactions.filter((code) => !codes.includes(code)).map((code) => `${type} ${code}`));
			for (const [name, { type: kind }] of Object.entries(asked.parameters)) {
				const is = (served.searchParam ?? []).some((one: FhirBody) => one.name === name && one.type === kind);
				const isOfAll = (body.rest[0].searchParam ?? []).some((one: FhirBody) => one.name === name);
				if (!is && !isOfAll) missing.push(`${type}?${name}`);
			}
			const names = [...(served.searchInclude ?? []), ...(served.searchRevInclude ?? [])];
			const plain = (include: string) => include.split(':').slice(0, 2).join(':');
			missing.push(...[...asked.includes, ...asked.reverseIncludes].filter((include) => !names.includes(plain(include))));
		}
		assert.deepEqual(missing, []);
	});
});
