import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

/** Text that PostgreSQL cannot compress; as an index entry it is too long. */
const random = (length: number) => randomBytes(length).toString('hex').slice(0, length);

function message({ type = 'ADT^A08', controlId = random(10), pid3 = '100' }: { type?: string; controlId?: string; pid3?: string }): string {
	return [`MSH|^~\\&|APP|FAC|R|RF|20260101120000||${type}|${controlId}|P|2.5.1`, `PID|1||${pid3}||Doe^Jane`, ''].join('\r');
}

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

describe('a message on the wire', () => {
	const header = (controlId: string, rest = '') => `MSH|^~\\&|LAB|FAC|R|RF|20260101120000||ORU^R01|${controlId}|P|2.5.1${rest}`;
	const pid = 'PID|1||W1||Doe^Jane';
	const obr = (number: string) => `OBR|1||${number}|18748-4^Radiology^LN`;
	const text = (lines: readonly string[]) => `${lines.join('\r')}\r`;

	/** Writes bytes as they are and waits for so many answers. */
	async function exchange(bytes: string, count: number): Promise<string[]> {
		const client = await MllpClient.connect(service.port('mllp'));
		client.socket.write(Buffer.from(bytes, 'latin1'));
		await eventually(() => Promise.resolve(client.extra.length >= count), 'the answers');
		client.close();
		return client.extra;
	}

	const textsOf = async (number: string) => {
		const rows = await service.rows<{ value: string }>(
			"select tributary_json(resource)->>'valueString' as value from observation where tributary_whole_text(resource) like $1",
			[`%"${number}"%`],
		);
		return rows.map(({ value }) => value);
	};

	test('with 0x1C in its data is AE as a whole, and logged; the next one is read', async () => {
		const bad = text([header('FS1'), 'PID|1||W2||Do\x1ce^Jane|||F']);
		const answers = await exchange(`\x0b${bad}\x1c\r\x0b${text([header('FS2'), pid])}\x1c\r`, 2);
		assert.deepEqual(
			answers.map((answer) => [msa(answer).code, msa(answer).controlId]),
			[
				['AE', 'FS1'],
				['AA', 'FS2'],
			],
		);
		assert.match(answers[0] ?? '', /\rERR\|\|\|100\^/);
		const logged = await service.rows<{ bytes: Buffer }>("select bytes from message_log where control_id = 'FS1' and outcome = 'refused'");
		assert.deepEqual(
			logged.map(({ bytes }) => bytes.toString('latin1')),
			[bad],
		);
	});

	test('that ends without CR is answered when nothing follows', async () => {
		const [answer] = await exchange(`\x0b${text([header('CR1'), pid])}\x1c`, 1);
		assert.equal(msa(answer ?? '').code, 'AA');
	});

	test('with a line end in its text, a document in another component and an interpreter in components is stored whole', async () => {
		const message = text([
			header('LF1'),
			'PID|1||LF-1||Doe^Jane||||||||020 1234^PRN^PH^jane@doe.example',
			`${obr('LF-ORDER')}${'|'.repeat(28)}1234^Smith^John`,
			'OBX|1|TX|18748-4^Rad^LN||First line\nsecond line||||||F',
			'OBX|2|ED|PDF^Report||PDF^Base64^JVBERi0=||||||F',
			'a line that is no segment',
		]);
		const [answer] = await exchange(`\x0b${message}\x1c\r`, 1);
		assert.equal(msa(answer ?? '').code, 'AA');
		const found = async (query: string) =>
			(await service.fhir(`/fhir/${query}`, keys.north)).body.entry.map(({ resource }: FhirBody) => resource);
		const [patient] = await found('Patient?identifier=LF-1');
		assert.deepEqual(
			patient.telecom.map(({ value }: FhirBody) => value),
			['020 1234', 'jane@doe.example'],
		);
		const [read] = await found(`Observation?patient=${patient.id}&code=18748-4`);
		assert.deepEqual([read.status, read.valueString], ['final', 'First line\nsecond line']);
		const [report] = await found(`DiagnosticReport?patient=${patient.id}`);
		assert.equal(report.resultsInterpreter[0].display, 'John Smith');
		assert.deepEqual(
			report.presentedForm.map(({ data }: FhirBody) => Buffer.from(data, 'base64').toString()),
			['First line\nsecond line', '%PDF-'],
		);
		const [logged] = await service.rows<{ flags: { code: string }[] }>("select flags from message_log where control_id = 'LF1'");
		assert.deepEqual(
			logged?.flags.map(({ code }) => code).filter((code) => code !== 'time-zone-assumed'),
			['segment-skipped'],
		);
	});

	test('with an extension, components of blanks and a document without its encoding keeps what it states', async () => {
		const document = Buffer.from('%PDF-1.7').toString('base64');
		const message = text([
			header('KEPT1'),
			'PID|1||KEPT-1||Doe^Jane||||||||(555)725-9890^WPN^PH^^1^555^7259890^4',
			obr('KEPT-ORDER'),
			'OBX|1|NM|A^ ^L||5|L^ ^UCUM|||||F',
			`OBX|2|ED|PDF^Report||^application^pdf^^${document}||||||F`,
		]);
		const [answer] = await exchange(`\x0b${message}\x1c\r`, 1);
		assert.equal(msa(answer ?? '').code, 'AA');
		const { body } = await service.fhir('/fhir/Patient?identifier=KEPT-1', keys.north);
		const [{ resource: patient }] = body.entry;
		assert.equal(patient.telecom[0].value, '(555)725-9890 X4');
		const { body: measured } = await service.fhir(`/fhir/Observation?patient=${patient.id}&code=A`, keys.north);
		const { code, valueQuantity } = measured.entry[0].resource;
		assert.deepEqual([code, valueQuantity.unit], [{ coding: [{ code: 'A' }] }, 'L']);
		const { body: reports } = await service.fhir(`/fhir/DiagnosticReport?patient=${patient.id}`, keys.north);
		const [form] = reports.entry[0].resource.presentedForm;
		assert.deepEqual([form.contentType, form.data], ['application/pdf', document]);
	});

	test('continued by ADD is stored whole', async () => {
		const message = text([
			header('ADD1'),
			pid,
			obr('ADD-1'),
			'OBX|1|FT|18748-4^Rad^LN||No evidence of fracture',
			'ADD|, except of the left hip.||||||F',
		]);
		const [answer] = await exchange(`\x0b${message}\x1c\r`, 1);
		assert.equal(msa(answer ?? '').code, 'AA');
		assert.deepEqual(await textsOf('ADD-1'), ['No evidence of fracture, except of the left hip.']);
	});

	test('continued by a second one in its batch is stored whole, and both are answered; alone it is AE', async () => {
		const first = text([header('DSC1'), pid, obr('DSC-1'), 'OBX|1|FT|18748-4^Rad^LN||No evidence', 'ADD|', 'DSC|4711|F']);
		const second = text([header('DSC2', '||4711'), 'ADD| of fracture||||||F']);
		const joined = await exchange(`\x0bBHS|^~\\&\r${first}${second}BTS|2\r\x1c\r`, 2);
		assert.deepEqual(
			joined.map((answer) => [msa(answer).code, msa(answer).controlId]),
			[
				['AA', 'DSC1'],
				['AA', 'DSC2'],
			],
		);
		assert.deepEqual(await textsOf('DSC-1'), ['No evidence of fracture']);
		const apart = await exchange(
			`\x0b${first.replaceAll('DSC1', 'DSC3').replace('DSC-1', 'DSC-3')}\x1c\r\x0b${second.replace('DSC2', 'DSC4')}\x1c\r`,
			2,
		);
		assert.deepEqual(
			apart.map((answer) => [msa(answer).code, msa(answer).controlId]),
			[
				['AE', 'DSC3'],
				['AE', 'DSC4'],
			],
		);
		assert.match(apart[0] ?? '', /\rERR\|\|DSC\^1\^1\|100/);
		assert.match(apart[1] ?? '', /\rERR\|\|MSH\^1\^14\|100/);
		assert.deepEqual(await textsOf('DSC-3'), []);
	});

	test('of a batch that lost one is flagged, and a damaged header has an answer of its own', async () => {
		const one = (id: string) => text([header(id), pid]);
		const answers = await exchange(`\x0bBHS|^~\\&\r${one('B1')}MSH|^~\rPID|1\r${one('B2')}BTS|4\r\x1c\r`, 3);
		assert.deepEqual(
			answers.map((answer) => msa(answer).code),
			['AA', 'AE', 'AA'],
		);
		const flags = await service.rows<{ flags: unknown }>("select flags from message_log where control_id in ('B1', 'B2')");
		for (const { flags: found } of flags) assert.deepEqual(found, [{ code: 'batch-count', text: 'BTS-1 counts 4 messages, and 3 came' }]);
		assert.equal(flags.length, 2);
	});

	test('whose MSH-2 is unusable is answered to its MSH-10', async () => {
		const [answer] = await exchange('\x0bMSH|^^^^|LAB|FAC|||20260101||ADT^A08|ODD1|P|2.5.1\rPID|1\r\x1c\r', 1);
		assert.deepEqual([msa(answer ?? '').code, msa(answer ?? '').controlId], ['AE', 'ODD1']);
	});

	test('about an order of another patient is AE at OBR-3', async () => {
		const order = (patient: string) => text([header(`O${patient}`), `PID|1||${patient}`, obr('OWN-1'), 'OBX|1|ST|A^A^L||a||||||F']);
		const answers = await exchange(`\x0b${order('W5')}\x1c\r\x0b${order('W6')}\x1c\r`, 2);
		assert.equal(msa(answers[1] ?? '').text, 'OBR-3 names an order that belongs to another patient of this site');
		assert.match(answers[1] ?? '', /\rERR\|\|OBR\^1\^3\|205/);
	});
});

describe('a text that a sender chooses', () => {
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
