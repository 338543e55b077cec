import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { enableSite, setSite } from '#administration/sites.ts';
import { resetPassword } from '#administration/users.ts';
import { adt } from '#test/support/adt.ts';
import { askAnew, askManyAnew, Stream } from '#test/support/anew.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { ctInstance, StorageScu } from '#test/support/storage-scu.ts';
import { type AdminClient, owner, signedIn } from '#test/surfaces/admin/client.ts';
import { raw } from '#test/surfaces/http/raw.ts';

/** Whichever process of a node is asked, it answers for the node. Each case asks many times, on connections of their own. */
describe('a node of three processes is one node', () => {
	let service: TestService;
	let key: string;

	before(async () => {
		service = await testService({
			PROCESSES: '3',
			MLLP_CONNECTIONS_MAX: '7',
			DIMSE_ASSOCIATIONS_MAX: '4',
			LIVE_WATCHERS_OF_USER_MAX: '2',
		});
		({ key } = await service.addSite('north', { protocols: ['hl7-mllp', 'dicom'] }));
		await setSite(service.administration, { slug: 'north', ae_title: 'NORTH' });
	});

	after(() => service[Symbol.asyncDispose]());

	const scrape = async () => (await askAnew({ port: service.port('ops'), path: '/metrics' })).text;
	const valueOfLine = (text: string, series: string) =>
		Number(
			text
				.split('\n')
				.find((line) => line.startsWith(`${series} `))
				?.slice(series.length + 1),
		);

	test('its limit of connections is one limit, kept by all processes together', async () => {
		const clients = await Promise.all(Array.from({ length: 12 }, () => MllpClient.connect(service.port('mllp'))));
		const open = () => clients.filter(({ socket }) => !socket.destroyed);
		await eventually(() => open().length === 7, 'the end of the connections above the limit');
		await eventually(async () => valueOfLine(await scrape(), 'tributary_mllp_connections') === 7, 'seven connections');
		const answers = await Promise.all(open().map((client, index) => client.send(adt(`limit-${index}`, 'LIMIT', index))));
		assert.deepEqual(
			answers.map((answer) => msa(answer).code),
			Array.from({ length: 7 }, () => 'AA'),
		);
		open()[0]?.close();
		await eventually(async () => {
			const next = await MllpClient.connect(service.port('mllp'));
			const code = await next.send(adt('limit-again', 'LIMIT', 9)).then(
				(answer) => msa(answer).code,
				() => 'closed',
			);
			next.close();
			return code === 'AA';
		}, 'room for another connection');
		for (const client of clients) client.close();
	});

	test('its limit of associations too', async () => {
		const opened = await Promise.allSettled(Array.from({ length: 9 }, () => StorageScu.open(service.port('dimse'), { called: 'NORTH' })));
		const scus = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
		assert.equal(scus.length, 4);
		const stored = await Promise.all(scus.map((scu, index) => scu.store(ctInstance({ sopInstanceUid: `1.2.3.9.${index}` }))));
		assert.deepEqual(
			stored.map(({ status }) => status),
			[0, 0, 0, 0],
		);
		for (const scu of scus) await scu.release();
	});

	test('its metrics are the same from every process, add up, and have those of each process by its label', async () => {
		const before = valueOfLine(await scrape(), 'tributary_site_messages_total{site="north",outcome="accepted"}') || 0;
		const clients = await Promise.all(Array.from({ length: 7 }, () => MllpClient.connect(service.port('mllp'))));
		for (let number = 0; number < 6; number++)
			await Promise.all(clients.map((client, index) => client.send(adt(`${index}-${number}`, `P${index}`, number))));
		const scrapes = await askManyAnew({ port: service.port('ops'), path: '/metrics' });
		for (const { status, text } of scrapes) {
			assert.equal(status, 200);
			assert.equal(valueOfLine(text, 'tributary_site_messages_total{site="north",outcome="accepted"}'), before + 42);
			assert.equal(valueOfLine(text, 'tributary_mllp_connections'), 7);
			assert.equal(valueOfLine(text, 'tributary_database_up'), 1);
			const processes = [...text.matchAll(/^process_resident_memory_bytes\{process="(\d)"\} \d+$/gm)].map(([, process]) => process);
			assert.deepEqual(processes, ['0', '1', '2']);
		}
		for (const client of clients) client.close();
		for (const [index, client] of clients.entries()) {
			const { body } = await service.fhir(`/fhir/Patient?identifier=P${index}`, key);
			assert.deepEqual([body.entry.length, body.entry[0].resource.meta.versionId], [1, '6'], `${client.extra}`);
		}
	});

	test('a wrong key is refused from its head by each process and takes no room of others; each tells of it once', async () => {
		const head = `POST /fhir/Patient HTTP/1.1\r\nHost: h\r\nX-API-Key: no\r\nContent-Length: 30000000\r\n\r\n{`;
		const refused = await Promise.all(Array.from({ length: 24 }, () => raw(service.port('fhir'), head, /\}$/)));
		for (const answer of refused) assert.match(answer, /^HTTP\/1\.1 401 /);
		const asked = { port: service.port('fhir'), path: '/fhir/Patient?_count=1', headers: { 'X-API-Key': key } };
		for (const { status } of await askManyAnew(asked)) assert.equal(status, 200);
		const told = () =>
			service.rows<{ times: number }>(`select (detail->>'times')::int as times from audit_event where action = 'key.refused'`);
		await eventually(async () => (await told()).length > 0, 'the event');
		const events = await told();
		assert.ok(events.length <= 3, 'at most one event of each process');
		assert.ok(events.reduce((sum, { times }) => sum + times, 0) <= 24);
	});

	test('a text that no index takes is AE for its message alone, whichever processes take it at the same time', async () => {
		const clients = await Promise.all(Array.from({ length: 6 }, () => MllpClient.connect(service.port('mllp'))));
		const codes = await Promise.all(
			clients.map(async (client, index) => {
				const long = randomBytes(2250).toString('base64url');
				const answers = await Promise.all([
					client.send(adt(`text-${index}`, 'TEXT', index)),
					client.send(adt(long, 'TEXT', index)),
					client.send(adt(`text-${index}-2`, 'TEXT', index)),
				]);
				client.close();
				return answers.map((answer) => msa(answer).code).join();
			}),
		);
		assert.deepEqual(new Set(codes), new Set(['AA,AE,AA']));
	});

	test('a site that is disabled is out on every process when the change returns', async () => {
		const { key: other } = await service.addSite('south', { sending_application: 'SOUTH' });
		const asked = { port: service.port('fhir'), path: '/fhir/Patient?_count=1', headers: { 'X-API-Key': other } };
		for (const { status } of await askManyAnew(asked)) assert.equal(status, 200);
		await enableSite(service.administration, 'south', false);
		for (const { status } of await askManyAnew(asked)) assert.equal(status, 401);
	});

	describe('for people', () => {
		let client: AdminClient;
		const ask = (path: string, times?: number) =>
			askManyAnew({ port: service.port('admin'), path, headers: { Cookie: client.cookie } }, times);

		before(async () => {
			client = await signedIn(service, owner, (await resetPassword(service.administration, owner)).password);
		});

		test('its live figures are the same from every process', async () => {
			await eventually(async () => (await client.call('/api/v1/overview')).body.points.length > 0, 'the first point');
			// A point may come between two answers.
			await eventually(async () => {
				const answers = await ask('/api/v1/overview');
				return new Set(answers.map(({ text }) => JSON.stringify(JSON.parse(text).points))).size === 1;
			}, 'the same points from every process');
		});

		test('a user has so many live streams on all processes together', async () => {
			const streams = Array.from({ length: 12 }, () => new Stream(service.port('admin'), '/api/v1/overview/live', client.cookie));
			const settled = await Promise.all(streams.map((stream) => stream.begun));
			const begun = settled.filter((text) => text !== '').length;
			assert.ok(begun === 1 || begun === 2, `${begun} streams began`);
			for (const stream of streams) stream.close();
		});

		test('an export is followed, read and deleted by way of any process', async () => {
			const headers = { 'X-API-Key': key, Prefer: 'respond-async', Accept: 'application/fhir+json' };
			const begun = await askAnew({ port: service.port('fhir'), path: '/fhir/$export?_type=Patient', headers });
			assert.equal(begun.status, 202, begun.text);
			const { pathname } = new URL(begun.headers['content-location'] ?? '');
			const status = { port: service.port('fhir'), path: pathname, headers: { 'X-API-Key': key } };
			await eventually(async () => (await askAnew(status)).status === 200, 'the end of the export');
			for (const answer of await askManyAnew(status, 12)) assert.equal(answer.status, 200);
			const [{ url }] = JSON.parse((await askAnew(status)).text).output;
			const files = await askManyAnew({ ...status, path: new URL(url).pathname }, 12);
			assert.deepEqual([new Set(files.map(({ text }) => text)).size, files[0]?.status], [1, 200]);
			assert.equal((await askAnew({ ...status, method: 'DELETE' })).status, 202);
			for (const answer of await askManyAnew(status, 12)) assert.equal(answer.status, 404);
		});

		test('a sign-in session begins and ends on all processes at once', async () => {
			for (const { status } of await ask('/api/v1/session')) assert.equal(status, 200);
			assert.equal((await client.call('/api/v1/session', { method: 'DELETE' })).status, 204);
			for (const { status } of await ask('/api/v1/session')) assert.equal(status, 401);
		});
	});
});
