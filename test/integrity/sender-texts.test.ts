import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type TestService, testService } from '#test/support/service.ts';

/** Text that PostgreSQL cannot compress; as an index entry it is too long. */
const random = (length: number) => randomBytes(length).toString('hex').slice(0, length);

function message({ type = 'ADT^A08', controlId = random(10), pid3 = '100' }: { type?: string; controlId?: string; pid3?: string }): string {
	return [`MSH|^~\\&|APP|FAC|R|RF|20260101120000||${type}|${controlId}|P|2.5.1`, `PID|1||${pid3}||Doe^Jane`, ''].join('\r');
}

describe('a text that a sender chooses', { timeout: 60_000 }, () => {
	let service: TestService;
	let keys: { north: string; south: string };
	before(async () => {
		// One lane: all sites share it.
		service = await testService({ WORKERS: '1', REPETITIONS_MAX: '200' });
		const north = await service.addSite('north');
		const south = await service.addSite('south', { allowed_ips: ['127.0.0.2'] });
		keys = { north: north.key, south: south.key };
	});
	after(() => service[Symbol.asyncDispose]());

	const post = async (key: string, body: string) => {
		const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
			body,
		});
		return { status: answer.status, body: (await answer.json()) as { error?: string } };
	};

	for (const [field, text, refused] of [
		['MSH-10', 'MSH-10 (message control id) has more than 250 characters', { controlId: random(3000) }],
		['MSH-9', 'MSH-9 (message type) has more than 250 characters', { type: `${random(3000)}^A08` }],
		['the event of MSH-9', 'MSH-9 (message type) has more than 250 characters', { type: `ADT^${random(3000)}` }],
	] as const) {
		test(`${field} of 3,000 characters is AE for that message alone, and logged; other messages and sites go on`, async () => {
			const sender = await MllpClient.connect(service.port('mllp'));
			const neighbour = await MllpClient.connect(service.port('mllp'), '127.0.0.2');
			const bad = message(refused);
			const answers = await Promise.all([
				sender.send(message({})),
				sender.send(bad),
				sender.send(message({})),
				neighbour.send(message({})),
			]);
			assert.deepEqual(
				answers.map((answer) => msa(answer).code),
				['AA', 'AE', 'AA', 'AA'],
			);
			assert.equal(msa(answers[1]).text, text);
			if ('controlId' in refused) assert.equal(msa(answers[1]).controlId, refused.controlId, 'MSA-2 echoes MSH-10 whole');
			const found = await service.rows<{ bytes: Buffer }>('select bytes from message_log where failure = $1', [text]);
			assert.ok(
				found.some(({ bytes }) => bytes.equals(Buffer.from(bad))),
				'the message log keeps it whole',
			);
			const posted = await post(keys.north, bad);
			assert.deepEqual([posted.status, posted.body.error], [422, text]);
			assert.equal((await post(keys.south, message({}))).status, 200);
			sender.close();
			neighbour.close();
		});
	}

	test('a field with more repetitions than REPETITIONS_MAX is AE 104 that names it', async () => {
		const client = await MllpClient.connect(service.port('mllp'));
		const list = (count: number) => Array.from({ length: count }, (_, index) => `R${index}`).join('~');
		const refused = await client.send(message({ pid3: list(201) }));
		assert.equal(msa(refused).text, 'PID-3 has more than 200 repetitions');
		assert.match(refused, /\rERR\|\|PID\^1\^3\|104/);
		assert.equal(msa(await client.send(message({ pid3: list(200) }))).code, 'AA');
		client.close();
	});

	test('a list of a FHIR resource with more values is 422 that names it, by create, by patch and in $validate', async () => {
		const fhir = (method: string, path: string, body: unknown, type = 'application/fhir+json') =>
			fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/${path}`, {
				method,
				headers: { 'X-API-Key': keys.north, 'Content-Type': type },
				body: JSON.stringify(body),
			}).then(async (answer) => ({
				status: answer.status,
				body: (await answer.json()) as { id: string; issue: { code: string; expression: string[] }[] },
			}));
		const patient = (count: number) => ({
			resourceType: 'Patient',
			identifier: Array.from({ length: count }, (_, index) => ({ system: 'urn:x', value: `F${index}` })),
		});
		const refused = await fhir('POST', 'Patient', patient(201));
		assert.deepEqual(
			[refused.status, refused.body.issue[0]?.code, refused.body.issue[0]?.expression],
			[422, 'too-long', ['Patient.identifier']],
		);
		const outcome = await fhir('POST', 'Patient/$validate', patient(201));
		assert.equal(outcome.body.issue[0]?.code, 'too-long');
		const created = await fhir('POST', 'Patient', patient(200));
		assert.equal(created.status, 201);
		const further = [{ op: 'add', path: '/identifier/-', value: { value: 'one more' } }];
		assert.equal((await fhir('PATCH', `Patient/${created.body.id}`, further, 'application/json-patch+json')).status, 422);
	});

	test('an identifier and its system that no index takes are kept, and found by no search', async () => {
		const wide = (length: number) =>
			Array.from({ length }, () => String.fromCharCode(0x4e00 + Math.floor(Math.random() * 0x5000))).join('');
		const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient`, {
			method: 'POST',
			headers: { 'X-API-Key': keys.north, 'Content-Type': 'application/fhir+json' },
			body: JSON.stringify({ resourceType: 'Patient', identifier: [{ system: `urn:${wide(490)}`, value: wide(490) }] }),
		});
		assert.equal(answer.status, 201);
	});
});
