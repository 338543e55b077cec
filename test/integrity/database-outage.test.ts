import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { describe, test } from 'node:test';
import { checkObjects } from '#administration/objects.ts';
import { resetPassword } from '#administration/users.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { adt } from '#test/support/adt.ts';
import { giveBack, takeAway } from '#test/support/database-away.ts';
import { MllpClient, msa, sendUntilStored } from '#test/support/mllp-client.ts';
import { readinessOfAll } from '#test/support/readiness.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';
import { signedIn } from '#test/surfaces/admin/client.ts';
import { file, multipartBody, multipartType } from '#test/surfaces/dicomweb/client.ts';
import { associateRequest, Peer } from '#test/surfaces/dimse/peer.ts';

const surfaces = ['FHIR read', 'FHIR write', 'HL7 v2', 'HL7 v3', 'MPPS', 'QIDO-RS', 'STOW-RS'] as const;

const allUnavailable = Object.fromEntries(surfaces.map((name) => [name, '503 Retry-After']));

interface Request {
	surface: string;
	path: string;
	type?: string;
	body?: string | Uint8Array<ArrayBuffer>;
}

const requests: Record<(typeof surfaces)[number], Request> = {
	'FHIR read': { surface: 'fhir', path: '/fhir/Patient' },
	'FHIR write': { surface: 'fhir', path: '/fhir/Patient', type: 'application/fhir+json', body: '{"resourceType":"Patient"}' },
	'HL7 v2': { surface: 'hl7', path: '/v2/ingest', type: 'text/plain', body: adt('h', 'B', 1) },
	'HL7 v3': { surface: 'hl7', path: '/v3/ingest', type: 'application/xml', body: '<PRPA_IN201301UV02 xmlns="urn:hl7-org:v3"/>' },
	MPPS: { surface: 'mpps', path: '/ingest', type: 'application/json', body: '{"sop_instance_uid":"1.2.3","status":"IN PROGRESS"}' },
	'QIDO-RS': { surface: 'fhir', path: '/dicomweb/studies' },
	'STOW-RS': { surface: 'fhir', path: '/dicomweb/studies', type: multipartType, body: new Uint8Array(multipartBody([file()])) },
};

/** Each surface over HTTP as it answers to a key. */
async function answersTo(service: TestService, key: string): Promise<Record<string, string>> {
	const answers: Record<string, string> = {};
	for (const [name, { surface, path, type, body }] of Object.entries(requests)) {
		const answer = await fetch(`http://127.0.0.1:${service.port(surface)}${path}`, {
			headers: { 'X-API-Key': key, ...(type === undefined ? {} : { 'Content-Type': type }) },
			...(body === undefined ? {} : { method: 'POST', body }),
		});
		await answer.text();
		answers[name] = `${answer.status}${answer.headers.has('retry-after') ? ' Retry-After' : ''}`;
	}
	return answers;
}

function ingest(service: TestService, key: string): Promise<Response> {
	return fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
		body: adt('h', 'B', 1),
	});
}

/** Asks as somebody who has signed in to the admin surface; the status. */
async function signedInStatus(service: TestService): Promise<() => Promise<number>> {
	const { password } = await resetPassword(service.administration, 'owner@example.org');
	const client = await signedIn(service, 'owner@example.org', password);
	return async () => (await client.call('/api/v1/session')).status;
}

/** PS3.8 §9.3.4: rejected-transient, by the provider of presentation services, temporary congestion. */
const transient = '2 3 1';

async function rejectionOf(service: TestService, called: string): Promise<string> {
	const socket = createConnection({ port: service.port('dimse'), host: '127.0.0.1' });
	await once(socket, 'connect');
	const [answer] = await new Peer(socket).ask(associateRequest({ called }));
	socket.destroy();
	return answer?.type === 3 ? [...answer.body.subarray(1, 4)].join(' ') : `PDU ${answer?.type}`;
}

/** What a connection from an address is sent until it is closed. */
async function receivedFrom(service: TestService, localAddress: string): Promise<string> {
	const socket = createConnection({ port: service.port('mllp'), host: '127.0.0.1', localAddress });
	let received = '';
	socket.on('error', () => undefined);
	socket.on('data', (chunk: Buffer) => {
		received += chunk.toString('latin1');
	});
	await once(socket, 'close');
	return received;
}

async function metricsOf(service: TestService): Promise<string> {
	return (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
}

/** The counts that say that somebody was turned away as wrong. */
async function refusals(service: TestService): Promise<string[]> {
	const lines = (await metricsOf(service)).split('\n');
	return lines.filter((line) => /(^tributary_access_refusals_total|"refused-address"|"rejected-call).* [1-9]/.test(line));
}

describe('a database that is away', () => {
	test('leaves MLLP unanswered and HTTP with 503; when it is back within the time, everything is stored and answered in order', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		const client = await MllpClient.connect(service.port('mllp'));
		assert.equal(msa(await client.send(adt('0', 'A', 0))).code, 'AA');
		await takeAway(service);
		let answered = 0;
		const answers = [1, 2, 3].map(async (number) => {
			const answer = msa(await client.send(adt(String(number), 'A', number)));
			answered++;
			return answer;
		});
		// The workers of each process notice by what they have to store. A request that comes before waits as MLLP does.
		const early = Array.from({ length: 24 }, () => ingest(service, key));
		const areDown = async () => (await readinessOfAll(service)).every(({ checks }) => checks['workers'] === 'down');
		await eventually(areDown, 'the workers without a database');
		const refused = await ingest(service, key);
		assert.equal(refused.status, 503);
		assert.ok(Number(refused.headers.get('retry-after')) > 0);
		const read = await service.fhir('/fhir/Patient', key);
		assert.equal(read.status, 503);
		assert.equal(read.body.issue[0].code, 'transient');
		assert.equal(answered, 0);
		await giveBack(service);
		assert.deepEqual(
			(await Promise.all(answers)).map(({ code, controlId }) => `${code} ${controlId}`),
			['AA 1', 'AA 2', 'AA 3'],
		);
		for (const { status } of await Promise.all(early)) assert.ok(status === 200 || status === 503, `${status}`);
		await eventually(async () => (await ingest(service, key)).status === 200, 'HTTP storing again');
		const found = () => service.fhir('/fhir/Patient?name=Number3', key);
		await eventually(async () => (await found()).status === 200, 'reads again');
		assert.equal((await found()).body.total, 1);
	});

	test('closes MLLP connections without an answer when it stays away; nothing of it is stored later', async () => {
		await using service = await testService({ UNAVAILABLE_MS_MAX: '4000' });
		await service.addSite('north');
		// The first message of a service takes by far the longest, and here the time to store one is short.
		await sendUntilStored(service, adt('0', 'A', 0));
		const client = await MllpClient.connect(service.port('mllp'));
		await takeAway(service);
		await assert.rejects(client.send(adt('1', 'A', 1)), /closed without an answer/);
		await giveBack(service);
		await eventually(async () => (await fetch(`http://127.0.0.1:${service.port('ops')}/health/ready`)).status === 200, 'ready again');
		// A process that had nothing to store may still have to notice; its connection is closed then, and the sender comes again.
		await sendUntilStored(service, adt('1', 'A', 1));
		assert.deepEqual(await service.rows('select version from patient'), [{ version: 2 }]);
	});

	test('has instances refused with 0xA700, and their association go on; sent again they are one row and one file each', async () => {
		await using service = await testService({ UNAVAILABLE_MS_MAX: '4000' });
		const { called, siteId } = await addImagingSite(service, 'west');
		using scu = await StorageScu.open(service.port('dimse'), { called });
		const instance = (number: number) => ctInstance({ sopInstanceUid: `1.2.${number}`, pixels: Buffer.alloc(50_000, number) });
		// The first instance of a service takes by far the longest, and here the time to store one is short.
		await eventually(async () => (await scu.store(instance(1))).status === 0, 'the first instance');
		assert.equal((await scu.store(instance(1))).status, 0);
		await takeAway(service);
		const refused = [await scu.store(instance(2)), await scu.store(instance(3))];
		assert.deepEqual(
			refused.map(({ status }) => status),
			[0xa700, 0xa700],
		);
		assert.equal(await scu.echo(), 0);
		await giveBack(service);
		await eventually(async () => (await scu.store(instance(2))).status === 0, 'storing again');
		for (const number of [1, 2, 3]) assert.equal((await scu.store(instance(number))).status, 0);
		await scu.release();
		const rows = await service.rows<{ uid: string }>(
			'select sop_instance_uid as uid from imaging_instance where site_id = $1 order by uid',
			[siteId],
		);
		assert.deepEqual(
			rows.map(({ uid }) => uid),
			['1.2.1', '1.2.2', '1.2.3'],
		);
		const store = configuredObjectStore({ DATA_DIR: service.dataDir });
		const later = Date.now() + 7_200_000;
		// Where it was open whether the row was committed, the file stays until somebody sweeps.
		assert.equal(
			(await checkObjects(service.administration.database, store, later, { remove: true, repair: true })).rows_without_objects,
			0,
		);
		const swept = await checkObjects(service.administration.database, store, later, { remove: false, repair: false });
		assert.deepEqual([swept.objects, swept.objects_without_rows, swept.rows_without_objects], [3, 0, 0]);
	});

	test('keeps those known who were known, and tells nobody that a key, an address or a title is wrong', async () => {
		await using service = await testService({ UNAVAILABLE_MS_MAX: '4000' });
		const { key, called } = await addImagingSite(service, 'west');
		const status = await signedInStatus(service);
		using scu = await StorageScu.open(service.port('dimse'), { called });
		await takeAway(service);
		await eventually(async () => (await service.fhir('/fhir/metadata', 'trb_nobody')).status === 503, 'the lost database');
		const before = await refusals(service);
		assert.deepEqual(await answersTo(service, key), allUnavailable, 'a known key');
		assert.deepEqual(await answersTo(service, 'trb_nobody'), allUnavailable, 'an unknown key');
		assert.equal((await service.fhir('/fhir/metadata', key)).status, 200);
		assert.equal(await status(), 503);
		assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.1' }))).status, 0xa700);
		using another = await StorageScu.open(service.port('dimse'), { called });
		assert.equal(await another.echo(), 0);
		assert.equal(await rejectionOf(service, 'NOBODY'), transient);
		assert.equal(await receivedFrom(service, '127.0.0.9'), '');
		const known = await MllpClient.connect(service.port('mllp'));
		await assert.rejects(known.send(adt('1', 'A', 1)), /closed without an answer/);
		assert.deepEqual(await refusals(service), before);
		assert.match(await metricsOf(service), /tributary_mllp_connections_total\{result="unavailable"\} 1/);
		assert.match(await metricsOf(service), /tributary_mllp_connection_ends_total\{reason="unavailable"\} 1/);
		await giveBack(service);
		await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the database');
		await eventually(async () => (await service.fhir('/fhir/Patient', 'trb_nobody')).status === 401, 'the answer to an unknown key');
	});

	test('has every surface answer everybody as unavailable when it stays away longer than those who were known stay known', async () => {
		await using service = await testService({ ACCESS_STALE_MS_MAX: '1500', UNAVAILABLE_MS_MAX: '1000' });
		const { key, called } = await addImagingSite(service, 'west');
		// The first message of a service takes by far the longest, and here the time to store one is short.
		await eventually(async () => (await ingest(service, key)).status === 200, 'the first message');
		const status = await signedInStatus(service);
		using scu = await StorageScu.open(service.port('dimse'), { called });
		const client = await MllpClient.connect(service.port('mllp'));
		assert.equal(msa(await client.send(adt('0', 'A', 0))).code, 'AA');
		const before = await refusals(service);
		await takeAway(service);
		await eventually(async () => (await service.fhir('/fhir/metadata', key)).status === 503, 'the end of the time');
		for (const given of [key, 'trb_nobody']) assert.deepEqual(await answersTo(service, given), allUnavailable);
		assert.equal(await status(), 503);
		assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.1' }))).status, 0xa700);
		for (const title of [called, 'NOBODY']) assert.equal(await rejectionOf(service, title), transient);
		await assert.rejects(client.send(adt('1', 'A', 1)), /closed without an answer/);
		assert.equal(await receivedFrom(service, '127.0.0.1'), '');
		assert.deepEqual(await refusals(service), before);
		assert.match(await metricsOf(service), /tributary_mllp_connection_ends_total\{reason="unavailable"\} 1/);
		assert.match(await metricsOf(service), /tributary_mllp_connections_total\{result="unavailable"\} 1/);
		await giveBack(service);
		await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the database');
		await eventually(async () => (await scu.store(ctInstance({ sopInstanceUid: '1.2.1' }))).status === 0, 'storing again');
		await sendUntilStored(service, adt('1', 'A', 1));
		const wrong = await service.rows(
			`select subject from audit_event where action in ('mllp.refused', 'dimse.refused') and source <> '127.0.0.1'`,
		);
		assert.deepEqual(wrong, []);
	});
});
