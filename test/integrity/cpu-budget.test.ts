import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { replayMessage } from '#administration/messages.ts';
import { adt } from '#test/support/adt.ts';
import { clinicalDocument } from '#test/support/cda.ts';
import { entry, section } from '#test/support/cda-sections.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type TestService, testService } from '#test/support/service.ts';

const refusal = 'processing takes more processor time than is allowed (MESSAGE_CPU_MS_MAX)';

/** Five elements an entry, of the 250,000 that a document may have. */
function document(entries: number): string {
	const procedures = Array.from({ length: entries }, (_, index) =>
		entry(
			`<procedure classCode="PROC" moodCode="EVN"><id root="1.2.${index}"/><code code="8310-5" codeSystem="2.16.840.1.113883.6.1"/><effectiveTime value="2020"/></procedure>`,
		),
	);
	return clinicalDocument({ body: `<component><structuredBody>${section('47519-4', procedures.join(''))}</structuredBody></component>` });
}

/** As many repetitions as a field may have, in the fields that take longest. */
function patient(controlId: string): string {
	const list = (each: (index: number) => string) => Array.from({ length: 10_000 }, (_, index) => each(index)).join('~');
	const identifiers = list((index) => `U${index}^^^A${index}&1.2.${index}&ISO^MR`);
	const pid = `PID|1||${identifiers}||${list((index) => `Doe^J${index}`)}||||||${list((index) => `Street ${index}^^Town^^${index}`)}`;
	return `MSH|^~\\&|APP|FAC|R|RF|20260101120000||ADT^A08|${controlId}|P|2.5.1\r${pid}\r`;
}

function transaction(): object {
	const list = (each: (index: number) => object) => Array.from({ length: 10_000 }, (_, index) => each(index));
	const resource = {
		resourceType: 'Patient',
		identifier: list((index) => ({ system: `urn:x:${index}`, value: `B${index}` })),
		name: list((index) => ({ use: 'official', family: 'Doe', given: [`Jane${index}`], period: { start: '2020-01-01' } })),
		address: list((index) => ({ line: [`Street ${index}`], city: 'Town', postalCode: String(index) })),
	};
	const entry = Array.from({ length: 3 }, () => ({ request: { method: 'POST', url: 'Patient' }, resource }));
	return { resourceType: 'Bundle', type: 'transaction', entry };
}

let service: TestService;
let key: string;

async function post(surface: string, path: string, type: string, body: string): Promise<{ status: number; text: string }> {
	const headers = { 'X-API-Key': key, 'Content-Type': type };
	const answer = await fetch(`http://127.0.0.1:${service.port(surface)}${path}`, { method: 'POST', headers, body });
	return { status: answer.status, text: await answer.text() };
}

/** While something is under way, another site of the same worker sends; all its messages are AA. */
async function whileOthersGoOn<T>(work: Promise<T>): Promise<T> {
	let isOver = false;
	const over = () => {
		isOver = true;
	};
	work.then(over, over);
	const neighbour = await MllpClient.connect(service.port('mllp'), '127.0.0.2');
	let sent = 0;
	while (!isOver) {
		assert.equal(msa(await neighbour.send(adt(`N${++neighbours}`, 'N', neighbours))).code, 'AA');
		sent++;
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	neighbour.close();
	assert.ok(sent > 3, `${sent} messages of the other site meanwhile`);
	return work;
}
let neighbours = 0;

async function logged(failure: string) {
	return service.rows<{ id: string; message_type: string; control_id: string; bytes: Buffer; kind: string }>(
		"select id, message_type, control_id, bytes, kind from message_log where outcome = 'refused' and failure = $1 order by sequence",
		[failure],
	);
}

describe('a message that takes more processor time than it may', () => {
	before(async () => {
		service = await testService({ WORKERS: '1', LONG_MESSAGE_BYTES: '100000', MESSAGE_CPU_MS_MAX: '100', UNAVAILABLE_MS_MAX: '120000' });
		({ key } = await service.addSite('north'));
		await service.addSite('south', { allowed_ips: ['127.0.0.2'] });
	});
	after(() => service[Symbol.asyncDispose]());

	test('is AE by MLLP, logged with its bytes and replayable; the message behind it is AA, and the other site goes on', async () => {
		const client = await MllpClient.connect(service.port('mllp'));
		const heavy = patient('HEAVY');
		const [refused, next] = await whileOthersGoOn(Promise.all([client.send(heavy), client.send(adt('NEXT', 'W1', 1))]));
		assert.deepEqual([msa(refused).code, msa(refused).controlId, msa(refused).text], ['AE', 'HEAVY', refusal]);
		assert.match(refused, /\rERR\|\|\|207/);
		assert.equal(msa(next).code, 'AA');
		const [row] = await logged(refusal);
		assert.deepEqual([row?.message_type, row?.control_id, row?.bytes.equals(Buffer.from(heavy))], ['ADT^A08', 'HEAVY', true]);
		assert.equal((await replayMessage(service.administration, row?.id ?? '', { acceptOlder: true })).outcome, 'accepted');
		client.close();
	});

	test('is 422 by HTTP, and nothing of it is stored', async () => {
		const fhir = await whileOthersGoOn(post('fhir', '/fhir', 'application/fhir+json', JSON.stringify(transaction())));
		assert.equal(fhir.status, 422);
		assert.deepEqual(JSON.parse(fhir.text).issue, [{ severity: 'error', code: 'too-costly', diagnostics: refusal }]);
		const kinds = (await logged(refusal)).map(({ kind }) => kind);
		assert.deepEqual(kinds, ['hl7v2', 'fhir']);
		assert.deepEqual(await service.rows("select count(*)::int as patients from patient where resource like '%urn:x%'"), [{ patients: 0 }]);
		const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		assert.match(metrics, /tributary_message_cpu_budget_total\{step="refused"\} 2/);
	});
});

describe('a message of the largest size that is allowed', () => {
	test('is taken, or refused with its reason, and the other site goes on meanwhile', async () => {
		service = await testService({ WORKERS: '1', UNAVAILABLE_MS_MAX: '120000' });
		try {
			({ key } = await service.addSite('north'));
			await service.addSite('south', { allowed_ips: ['127.0.0.2'] });
			const comment = `<!--${'- '.repeat(5_000_000)}-->`;
			const commented = document(1).replace('<title>', `${comment}<title>`).replace('extension="D1"', 'extension="D2"');
			const repeated = `${adt('REP', 'A', 1).split('PID')[0]}PID|1||${Array.from({ length: 200_000 }, (_, index) => `R${index}`).join('~')}\r`;
			const answers = await whileOthersGoOn(
				Promise.all([
					post('hl7', '/v3/ingest', 'application/xml', document(49_000)),
					post('hl7', '/v3/ingest', 'application/xml', commented),
					post('hl7', '/v2/ingest', 'text/plain', repeated),
				]),
			);
			assert.deepEqual(
				answers.map(({ status }) => status),
				[200, 200, 422],
			);
			assert.equal(JSON.parse(answers[2].text).error, 'PID-3 has more than 10000 repetitions');
		} finally {
			await service[Symbol.asyncDispose]();
		}
	});
});
