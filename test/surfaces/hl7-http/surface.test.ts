import { strict as assert } from 'node:assert';
import { describe, type TestContext, test } from 'node:test';
import type { AccessDirectory } from '#access/directory.ts';
import { systemClock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { isUuid, nilId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import type { Delivery, Hl7Answer, Reply, ReplyTo } from '#record/delivery.ts';
import { createHl7HttpSurface } from '#surfaces/hl7-http/surface.ts';
import { defaultLimits, type Limits } from '../../../src/limits.ts';
import { createMetrics } from '../../../src/metrics.ts';

const siteId = '0199c0de-0000-7000-8000-000000000002';
const adt = 'MSH|^~\\&|SENDER|WEST|||20260101||ADT^A08^ADT_A01|M1|P|2.5.1\rPID|1||4711\r';
const ack = 'MSH|^~\\&|||SENDER|WEST|20260101||ACK^A08^ACK|1|P|2.5.1\rMSA|AA|M1\r';

const directory: AccessDirectory = {
	grantOfKey: (header) =>
		header === 'good' ? { keyId: 'key1', siteId, siteSlug: 'west', settings: { default_authority: 'urn:oid:1.2.3' } } : undefined,
	mayConnect: () => false,
	matchSender: () => ({ kind: 'no-address' }),
};

async function start(t: TestContext, limits: Partial<Limits> = {}) {
	const delivered: Delivery[] = [];
	const reply = (delivery: Delivery, more: Partial<Reply<Hl7Answer>> = {}): Reply<Hl7Answer> => ({
		id: delivery.id,
		outcome: 'accepted',
		messageType: 'ADT^A08',
		controlId: 'M1',
		answer: { acknowledgements: [Buffer.from(ack)] },
		flags: [],
		...more,
	});
	const gateway = {
		up: true,
		room: true,
		answer: (delivery: Delivery): Promise<Reply<Hl7Answer>> => Promise.resolve(reply(delivery)),
		deliver: <Sent extends Delivery>(delivery: Sent) => {
			delivered.push(delivery);
			return gateway.answer(delivery) as Promise<ReplyTo<Sent>>;
		},
		hasRoom: () => gateway.room,
		whenRoom: () => Promise.resolve(),
		available: () => gateway.up,
	};
	const metrics = createMetrics({ processMetrics: false });
	const context = { directory, gateway, limits: { ...defaultLimits, ...limits }, metrics, log: silentLog, clock: systemClock };
	const server = await createHl7HttpSurface(context, {
		host: '127.0.0.1',
		port: 0,
		trustedProxies: [],
		documented: false,
		version: '1.2.3',
	});
	t.after(() => server.close(0));
	const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, path = '/v2/ingest') =>
		fetch(`http://127.0.0.1:${server.port}${path}`, {
			method: 'POST',
			headers: { 'X-API-Key': 'good', 'Content-Type': 'text/plain', ...headers },
			body,
		});
	return { gateway, delivered, reply, post, metrics, server };
}

describe('POST /v2/ingest', () => {
	test('a message is delivered to the site of the key and answered with its acknowledgement', async (t) => {
		const { post, delivered, metrics } = await start(t);
		const answer = await post(adt);
		assert.equal(answer.status, 200);
		assert.ok(isUuid(answer.headers.get('x-request-id') ?? ''));
		assert.deepEqual(await answer.json(), { success: true, message_type: 'ADT^A08', ack });
		const { id, receivedAtMs, bytes, ...rest } = delivered[0] ?? assert.fail('nothing was delivered');
		assert.ok(isUuid(id) && receivedAtMs > 0);
		assert.equal(Buffer.from(bytes).toString(), adt);
		assert.deepEqual(rest, {
			kind: 'hl7v2',
			siteId,
			clientId: nilId,
			surface: 'hl7-http',
			source: 'key1',
			settings: { default_authority: 'urn:oid:1.2.3' },
		});
		const { body } = await metrics.exposition('text');
		assert.match(body, /tributary_hl7_messages_total\{surface="hl7-http",type="ADT\^A08",outcome="accepted"\} 1/);
		assert.match(body, /tributary_site_messages_total\{site="west",outcome="accepted"\} 1/);
	});

	test('no key and an unknown key get the same 401', async (t) => {
		const { server, delivered } = await start(t);
		const answers = await Promise.all(
			[{}, { 'X-API-Key': 'bad' }].map((headers: Record<string, string>) =>
				fetch(`http://127.0.0.1:${server.port}/v2/ingest`, { method: 'POST', headers, body: adt }),
			),
		);
		const bodies = await Promise.all(answers.map((answer) => answer.text()));
		assert.deepEqual(
			answers.map(({ status }) => status),
			[401, 401],
		);
		assert.equal(answers[0]?.headers.get('www-authenticate'), 'X-API-Key');
		assert.equal(bodies[0], bodies[1]);
		assert.equal(JSON.parse(bodies[0] ?? '').success, false);
		assert.equal(delivered.length, 0);
	});

	test('the three media types are taken, with the charsets that HL7 v2 is sent in', async (t) => {
		const { post } = await start(t);
		for (const type of [
			'text/plain',
			'application/hl7-v2',
			'x-application/hl7-v2+er7',
			'Text/Plain; charset="UTF-8"',
			'text/plain;charset=iso-8859-1',
		]) {
			assert.equal((await post(adt, { 'Content-Type': type })).status, 200, type);
		}
	});

	test('other media types, charsets and encodings are 415', async (t) => {
		const { post, delivered } = await start(t);
		for (const headers of [
			{ 'Content-Type': 'application/json' },
			{ 'Content-Type': 'text/plain; charset=utf-16' },
			{ 'Content-Encoding': 'gzip' },
		] as Record<string, string>[]) {
			const answer = await post(adt, headers);
			assert.equal(answer.status, 415);
			assert.equal(((await answer.json()) as { success: boolean }).success, false);
		}
		assert.equal(delivered.length, 0);
	});

	test('an empty body and MLLP framing bytes are 400 with a sentence that says so', async (t) => {
		const { post, delivered } = await start(t);
		const framed = await post(`\x0b${adt}\x1c\r`);
		assert.equal(framed.status, 400);
		assert.match(((await framed.json()) as { error: string }).error, /MLLP framing/);
		const empty = await post('');
		assert.equal(empty.status, 400);
		assert.match(((await empty.json()) as { error: string }).error, /empty/);
		assert.equal(delivered.length, 0);
	});

	test('several messages are 400 with their number, a batch of one is its message', async (t) => {
		const { post, delivered } = await start(t);
		const several = await post(adt + adt + adt);
		assert.equal(several.status, 400);
		assert.match(((await several.json()) as { error: string }).error, /3 messages/);
		assert.equal(delivered.length, 0);
		assert.equal((await post(`BHS|^~\\&\r${adt}BTS|1\r`)).status, 200);
		assert.equal(Buffer.from(delivered[0]?.bytes ?? []).toString(), adt);
	});

	test('a refused message has the status of its failure, the sentence and the acknowledgement', async (t) => {
		const { post, gateway, reply } = await start(t);
		for (const [code, status] of [
			['required-field-missing', 422],
			['unsupported-event', 422],
			['not-hl7', 400],
		] as const) {
			const failure = { code, diagnostics: 'PID-3 is missing' };
			gateway.answer = (delivery) =>
				Promise.resolve(reply(delivery, { outcome: 'refused', failure, messageType: code === 'not-hl7' ? '' : 'ADT^A08' }));
			const answer = await post(adt);
			assert.equal(answer.status, status);
			const type = code === 'not-hl7' ? {} : { message_type: 'ADT^A08' };
			assert.deepEqual(await answer.json(), { success: false, ...type, error: 'PID-3 is missing', ack });
		}
	});

	test('what is no message at all is passed on, so that it is logged', async (t) => {
		const { post, delivered } = await start(t);
		await post('good morning');
		assert.equal(Buffer.from(delivered[0]?.bytes ?? []).toString(), 'good morning');
	});

	test('the acknowledgement is read in the character set of the sender', async (t) => {
		const { post, gateway, reply } = await start(t);
		const header = 'MSH|^~\\&|||S|W|1||ACK|1|P|2.5.1||||||';
		for (const [charset, encoding] of [
			['8859/1', 'latin1'],
			['UNICODE UTF-8', 'utf8'],
		] as const) {
			const text = `${header}${charset}\rMSA|AA|Mü1\r`;
			gateway.answer = (delivery) => Promise.resolve(reply(delivery, { answer: { acknowledgements: [Buffer.from(text, encoding)] } }));
			assert.equal(((await (await post(adt)).json()) as { ack: string }).ack, text);
		}
	});

	test('a service that cannot store answers 503 with Retry-After, and does not queue', async (t) => {
		const { post, gateway, delivered } = await start(t);
		for (const lack of ['up', 'room'] as const) {
			gateway[lack] = false;
			const answer = await post(adt);
			assert.equal(answer.status, 503);
			assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
			assert.equal(((await answer.json()) as { success: boolean }).success, false);
			gateway[lack] = true;
		}
		assert.equal(delivered.length, 0);
		gateway.answer = () => Promise.reject(new Failure('unavailable', 'the database does not answer'));
		const answer = await post(adt);
		assert.equal(answer.status, 503);
		assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
	});

	test('a delivery that does not end in time is 503', async (t) => {
		const { post, gateway } = await start(t, { unavailableMsMax: 100 });
		gateway.answer = () => new Promise(() => {});
		assert.equal((await post(adt)).status, 503);
	});

	test('a fault of the service is 500 without its reason', async (t) => {
		const { post, gateway } = await start(t);
		gateway.answer = () => Promise.reject(new Error('secret detail'));
		const answer = await post(adt);
		assert.equal(answer.status, 500);
		assert.doesNotMatch(await answer.text(), /secret/);
	});

	test('a body over the limit is 413, other methods 405, other paths 404', async (t) => {
		const { post, server } = await start(t, { httpBodyBytesMax: 1024 });
		assert.equal((await post(adt + 'x'.repeat(2000))).status, 413);
		const got = await fetch(`http://127.0.0.1:${server.port}/v2/ingest`, { headers: { 'X-API-Key': 'good' } });
		assert.equal(got.status, 405);
		assert.equal(got.headers.get('allow'), 'POST');
		assert.equal((await post(adt, {}, '/v4/ingest')).status, 404);
		assert.equal((await post(adt, {}, '/fhir/Patient')).status, 404);
	});
});
