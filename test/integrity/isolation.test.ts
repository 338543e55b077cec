import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addClient } from '#administration/clients.ts';
import { setSite } from '#administration/sites.ts';
import { resources } from '#fhir/resources/index.ts';
import { operationOf, type Operation as Verb } from '#surfaces/dimse/command-set.ts';
import { element, sequence } from '#test/support/data-set.ts';
import { eventually } from '#test/support/eventually.ts';
import {
	canary,
	filled,
	inTurns,
	type Owned,
	otherValuesFor,
	type ResourceType,
	routes,
	tagged,
	valuesFor,
} from '#test/support/every-route.ts';
import { type GivenImage, sendImages } from '#test/support/images.ts';
import { Modality } from '#test/support/modality.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { digestOf, siteTables, writtenBehind } from '#test/support/site-tables.ts';
import { associate, responseOf } from '#test/surfaces/dimse/peer.ts';
import { allResponses, ask, countsOf, identifier, questionContexts } from '#test/surfaces/dimse/questions.ts';
import { circumstances, keepResult } from '#test/trust/results.ts';

/**
 * Every route and parameter of the surfaces, with what belongs to another site. The lists come from the tables of the product: what is added
 * there is asked here, and a part of a path for which nothing is known fails.
 */

let service: TestService;
let north = '';
let east = '';
let northId = '';
/** The ids of what north has: of resources by their type, and of its export. */
const ids = new Map<string, string>();
const image: GivenImage = {
	studyUid: '1.2.840.77.1',
	seriesUid: '1.2.840.77.1.1',
	sopInstanceUid: '1.2.840.77.1.1.1',
	patientId: canary,
	patientName: `${canary}^A`,
	modality: 'CT',
	accession: canary,
	studyDescription: canary,
	date: '20260105',
	time: '101500',
};

const owned: Owned = { ids, image };

interface Reply {
	status: number;
	text: string;
	body: FhirBody;
	location: string;
}

async function call(key: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
	const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/fhir+json';
	const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}${path}`, {
		method,
		headers: { 'X-API-Key': key, 'Accept-Encoding': 'identity', ...(body === undefined ? {} : { 'Content-Type': type }), ...headers },
		...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
	});
	const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
	const isJson = /json/.test(answer.headers.get('content-type') ?? '');
	return {
		status: answer.status,
		text,
		body: isJson && text !== '' ? JSON.parse(text) : {},
		location: answer.headers.get('content-location') ?? '',
	};
}

/** Nothing of north is in an answer to east. The answer may repeat the question. */
function assertNothingForeign({ text, body }: Reply, of: string): void {
	const own = of.includes(canary) ? text.replaceAll(/"(?:url|diagnostics|fullUrl)":"[^"]*"/g, '') : text;
	assert.ok(!own.includes(canary), `${of} shows what another site has`);
	if (body.resourceType !== 'Bundle') return;
	const shown = (body.entry ?? []).filter(
		(entry: FhirBody) => entry.search?.mode !== 'outcome' && entry.resource?.resourceType !== 'OperationOutcome',
	);
	assert.deepEqual([shown.length, body.total ?? 0], [0, 0], of);
}

/** A digest of the rows of north in each table. */
async function rowsOfNorth(): Promise<Record<string, string>> {
	const digests: Record<string, string> = {};
	for (const name of await siteTables(service)) {
		if (!writtenBehind.includes(name)) digests[name] = await digestOf(service, `${name} where site_id = $1`, [northId]);
	}
	return digests;
}

async function exportOf(key: string, path = '/fhir/$export'): Promise<FhirBody> {
	const { location } = await call(key, 'GET', path, undefined, { Prefer: 'respond-async' });
	let body: FhirBody = {};
	await eventually(async () => {
		const reply = await call(key, 'GET', new URL(location).pathname);
		body = reply.body;
		return reply.status === 200;
	}, 'the export');
	return { ...body, job: new URL(location).pathname.split('/').at(-1) };
}

const startedMs = Date.now();
let asked = 0;

describe('what belongs to another site', () => {
	before(async () => {
		service = await testService();
		const first = await service.addSite('north', { sending_application: 'NORTH' });
		[north, northId] = [first.key, first.site.id];
		east = (await service.addSite('east', { sending_application: 'EAST' })).key;
		for (const slug of ['north', 'east']) {
			await setSite(service.administration, { slug, ae_title: slug.toUpperCase(), report_writes: true });
			const client = { site: slug, protocols: ['dicom' as const], allowed_ips: ['127.0.0.1'], grants: ['query' as const] };
			await addClient(service.administration, { ...client, name: 'modality', calling_ae: 'CT1' });
		}
		// The requests of east stand in its own trail, with the ids that it asked for; a test of its own looks at that.
		await setSite(service.administration, { slug: 'east', audit_events: false });
		for (const type of Object.keys(resources) as ResourceType[]) {
			const { status, body } = await call(north, 'POST', `/fhir/${type}`, tagged(type));
			if (status === 201) ids.set(type, body.id);
			else if (type !== 'ImagingStudy') throw new Error(`${type}: ${status} ${JSON.stringify(body)}`);
		}
		await sendImages(service.port('dimse'), 'NORTH', [image]);
		const [study] = (await call(north, 'GET', '/fhir/ImagingStudy')).body.entry ?? [];
		if (study) ids.set('ImagingStudy', study.resource.id);
		const exported = await exportOf(north);
		ids.set('job', exported.job);
		ids.set('file', exported.output[0].url.split('/').at(-1));
	});

	after(() => service[Symbol.asyncDispose]());

	test('is of every type, and its own site sees it', async () => {
		const missing = Object.keys(resources).filter((type) => !ids.has(type));
		assert.deepEqual(missing, []);
		await inTurns(
			[...ids].filter(([type]) => type in resources),
			async ([type, id]) => {
				const { status, text } = await call(north, 'GET', `/fhir/${type}/${id}`, undefined, { Accept: 'application/fhir+json' });
				assert.deepEqual([status, text.includes(canary)], [200, true], type);
			},
		);
	});

	test('is not read by any route, whatever in its path is of the other site', async () => {
		await inTurns(
			routes().filter(({ method }) => method === 'GET'),
			async ({ method, path }) => {
				const target = filled(path, owned);
				const reply = await call(east, method, target, undefined, path.includes('$export') ? { Prefer: 'respond-async' } : {});
				asked++;
				assertNothingForeign(reply, `${method} ${target}`);
				if (/\{(id|study|job)\}/.test(path))
					assert.ok(
						reply.status >= 400 ||
							reply.body.resourceType === 'Bundle' ||
							reply.text === '[]' ||
							reply.status === 204 ||
							reply.status === 202,
						`${method} ${target}: ${reply.status}`,
					);
			},
		);
	});

	test('is not found by any parameter of any search, and by no other site’s page', async () => {
		const searches = routes()
			.filter(({ method, path }) => method === 'GET' && /^\/fhir\/[A-Z]\w+$/.test(path))
			.flatMap(({ path, parameters }) =>
				parameters.map((name) => `${path}?${name}=${encodeURIComponent(valuesFor(name, path.slice('/fhir/'.length), owned))}`),
			);
		assert.ok(searches.length > 1500, `${searches.length} searches`);
		await inTurns(searches, async (search) => {
			asked++;
			assertNothingForeign(await call(east, 'GET', search), search);
		});
		const found = await call(north, 'GET', `/fhir/Patient?_tag=urn:canary|${canary}`);
		assert.equal(found.body.entry?.length, 1, 'its own site finds it');
		for (const type of ['Patient', 'Observation']) {
			await call(north, 'POST', `/fhir/${type}`, tagged(type as ResourceType));
			const page = await call(north, 'GET', `/fhir/${type}?_count=1`);
			const next = page.body.link.find((link: FhirBody) => link.relation === 'next')?.url;
			assert.ok(next, `a second page of ${type}`);
			const { pathname, search } = new URL(next);
			const reply = await call(east, 'GET', `${pathname}${search}`);
			asked++;
			assertNothingForeign(reply, `the next page of ${type}`);
		}
	});

	test('is not found by a parameter of QIDO-RS, of an operation or of a system search, nor by a search by POST', async () => {
		const others = routes().filter(({ method, path }) => method === 'GET' && !/^\/fhir\/[A-Z]\w+$/.test(path) && !path.includes('$export'));
		const asks = others.flatMap(({ path, parameters }) =>
			parameters.map((name) => `${filled(path, owned)}?${name}=${encodeURIComponent(otherValuesFor(name, owned))}`),
		);
		assert.ok(asks.length > 500, `${asks.length} requests`);
		await inTurns(asks, async (target) => {
			asked++;
			assertNothingForeign(await call(east, 'GET', target), target);
		});
		const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
		await inTurns(Object.keys(resources) as ResourceType[], async (type) => {
			const body = `_tag=${canary}&_id=${ids.get(type)}`;
			asked++;
			assertNothingForeign(await call(east, 'POST', `/fhir/${type}/_search`, body, form), `POST ${type}/_search ${body}`);
		});
		const own = await call(north, 'POST', '/fhir/Patient/_search', `_tag=${canary}`, form);
		assert.ok(own.body.entry?.length > 0, 'its own site finds it');
		const patient = ids.get('Patient') ?? '';
		for (const query of [
			`_typeFilter=${encodeURIComponent(`Patient?_id=${patient}`)}`,
			'_type=Patient&_elements=id',
			'_since=1900-01-01T00:00:00Z',
		]) {
			asked++;
			assert.deepEqual((await exportOf(east, `/fhir/$export?${query}`)).output, [], query);
		}
	});

	test('is not shown, changed or removed by a text that would end a statement', async () => {
		const texts = [
			"' or '1'='1",
			"'; delete from patient; --",
			"') or (1=1) --",
			'\\',
			'$1',
			'$$;select 1;$$',
			'%',
			'"',
			"x'||(select 1)||'",
			'/**/',
		];
		const before = await rowsOfNorth();
		const targets = routes()
			.filter(({ method, path }) => method === 'GET' && !path.includes('$export'))
			.flatMap(({ path, parameters }) => parameters.map((name) => `${filled(path, owned)}?${name}=`))
			.map((target, index) => `${target}${encodeURIComponent(texts[index % texts.length] ?? '')}`);
		await inTurns(targets, async (target) => {
			const { status, text } = await call(east, 'GET', target);
			assert.ok(status < 500, `${target}: ${status}`);
			assert.ok(!text.includes(canary), `${target} shows what another site has`);
		});
		asked += targets.length;
		assert.deepEqual(await rowsOfNorth(), before);
	});

	test('is no event of the trail that a site reads as AuditEvents', async () => {
		await setSite(service.administration, { slug: 'east', audit_events: true });
		try {
			const { body } = await call(east, 'GET', '/fhir/AuditEvent?_count=500');
			asked++;
			const shown: string[] = (body.entry ?? []).map(({ resource }: FhirBody) => resource.id);
			assert.ok(shown.length > 5, `${shown.length} events`);
			const own = await service.rows('select from audit_event where site_id <> $1 and id = any ($2::uuid[])', [northId, shown]);
			assert.equal(own.length, shown.length);
			const [foreign] = await service.rows<{ id: string }>('select id from audit_event where site_id = $1 limit 1', [northId]);
			asked++;
			assert.equal((await call(east, 'GET', `/fhir/AuditEvent/${foreign?.id}`)).status, 404);
		} finally {
			await setSite(service.administration, { slug: 'east', audit_events: false });
		}
	});

	test('is not changed or removed by any route', async () => {
		const before = await rowsOfNorth();
		await inTurns(
			routes().filter(({ method }) => method !== 'GET'),
			async ({ method, path }) => {
				const target = filled(path, owned);
				const type = /^\/fhir\/([A-Z]\w+)/.exec(path)?.[1];
				const id = ids.get(type ?? '');
				const given = type !== undefined && type in resources ? { ...resources[type as ResourceType].example, resourceType: type } : {};
				const body =
					method === 'DELETE' ? undefined : method === 'PATCH' ? [{ op: 'add', path: '/language', value: 'de' }] : { ...given, id };
				asked++;
				const reply = await call(east, method, target, body);
				assert.ok(!reply.text.includes(canary), `${method} ${target} shows what another site has`);
			},
		);
		const patient = ids.get('Patient') ?? '';
		for (const search of [`/fhir/Patient?identifier=${canary}`, `/fhir/Patient?_tag=${canary}`, `/fhir/Patient?_id=${patient}`]) {
			asked++;
			const reply = await call(east, 'DELETE', search);
			assert.ok(!reply.text.includes(canary), search);
		}
		assert.deepEqual(await rowsOfNorth(), before);
	});

	/** Every verb of DIMSE, with what it is asked for where it carries a name of something that is stored. */
	const askedByVerb: Record<Verb, string> = {
		'C-FIND': 'its patient, study, series and image',
		'C-GET': 'its study',
		'C-MOVE': 'its study, to a destination that only north has',
		'C-STORE': 'the same UID becomes an image of the own site',
		'N-CREATE': 'the same UID becomes a step of the own site',
		'N-SET': 'its step',
		'N-ACTION': 'the commitment of its image, which test/integrity/commitment.test.ts asks for',
		'N-GET': 'nothing, it is not offered',
		'N-DELETE': 'nothing, it is not offered',
		'N-EVENT-REPORT': 'nothing, the service sends it',
		'C-ECHO': 'nothing',
		'C-CANCEL': 'nothing but the own request',
	};

	test('is neither found nor sent nor changed by a verb of DIMSE', async (context) => {
		const verbs = Array.from({ length: 0x1000 }, (_, field) => operationOf(field)).filter((verb) => verb !== undefined);
		assert.deepEqual(Object.keys(askedByVerb).sort(), verbs.sort());
		const port = service.port('dimse');
		const matches = async (called: string, level: string, ...keys: [number, string, string][]) => {
			const peer = await associate(context, port, { called, contexts: questionContexts });
			peer.write(ask(1, identifier([0x0008_0052, 'CS', level], ...keys)));
			const messages = await allResponses(peer);
			asked++;
			return messages.length - 1;
		};
		const study: [number, string, string] = [0x0020_000d, 'UI', image.studyUid];
		assert.equal(await matches('NORTH', 'STUDY', study), 1, 'its own site finds it');
		for (const [level, ...keys] of [
			['STUDY', study],
			['STUDY', [0x0010_0020, 'LO', canary]],
			['STUDY', [0x0008_0050, 'SH', canary]],
			['STUDY', [0x0020_000d, 'UI', '']],
			['SERIES', study, [0x0020_000e, 'UI', image.seriesUid]],
			['IMAGE', study, [0x0020_000e, 'UI', image.seriesUid], [0x0008_0018, 'UI', image.sopInstanceUid]],
		] as [string, ...[number, string, string][]][]) {
			assert.equal(await matches('EAST', level, ...keys), 0, level);
		}
		const peer = await associate(context, port, { called: 'EAST', contexts: questionContexts });
		peer.write(ask(5, identifier([0x0008_0052, 'CS', 'STUDY'], study)));
		const [got] = await allResponses(peer);
		assert.ok(got);
		assert.equal(countsOf(got.command)[1] ?? 0, 0, 'C-GET sends nothing');
		peer.write(ask(3, identifier([0x0008_0052, 'CS', 'STUDY'], study), 'NORTHAE'));
		const moved = (await allResponses(peer)).at(-1);
		assert.ok(moved);
		assert.equal(responseOf(moved.command).get(0x0900)?.readUInt16LE(0), 0xa801, 'C-MOVE knows no such destination');
		asked += 2;

		const begun = Buffer.concat([
			element(0x0008_0060, 'CS', 'CT'),
			element(0x0010_0020, 'LO', canary),
			element(0x0040_0241, 'AE', 'CT1'),
			element(0x0040_0244, 'DA', '20260105'),
			element(0x0040_0245, 'TM', '101500'),
			element(0x0040_0252, 'CS', 'IN PROGRESS'),
			sequence(0x0040_0270, [element(0x0020_000d, 'UI', image.studyUid)]),
		]);
		using own = await Modality.open(port, 'NORTH');
		assert.equal((await own.create('1.2.840.78.1', begun)).status, 0);
		const before = await rowsOfNorth();
		using foreign = await Modality.open(port, 'EAST');
		assert.equal((await foreign.set('1.2.840.78.1', element(0x0040_0252, 'CS', 'DISCONTINUED'))).status, 0x0112, 'no such step');
		assert.equal((await foreign.create('1.2.840.78.1', begun)).status, 0, 'a step of its own');
		await sendImages(port, 'EAST', [image]);
		asked += 3;
		assert.deepEqual(await rowsOfNorth(), before);
		context.diagnostic(`${asked} requests named what belongs to another site; rows of it that were shown or changed: 0`);
		if (process.env['UPDATE_CONFORMANCE']) {
			keepResult('isolation', {
				proof: 'isolation',
				...circumstances(startedMs, 'UPDATE_CONFORMANCE=1 npm test -- test/integrity/isolation.test.ts'),
				...{ seed: null, passed: true, failures: [], skipped: [] },
				figures: { requests: asked, routes: routes().length, types: Object.keys(resources).length, foreignRows: 0 },
				table: { head: [], rows: [] },
			});
		}
	});
});
