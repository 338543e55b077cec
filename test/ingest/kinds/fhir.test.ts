import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeRequest } from '#fhir/write/request.ts';
import type { FhirAnswer, FhirDelivery } from '#record/delivery.ts';
import { carried, loggedAcks, MemoryBatch } from '#test/support/interpretation.ts';

function fhir(method: string, url: string, body: unknown, headers: Record<string, string> = {}): FhirDelivery {
	const bytes = encodeRequest({ method, url, headers, body: Buffer.from(JSON.stringify(body)) });
	return { ...carried(), kind: 'fhir', surface: 'fhir', bytes, settings: { check_references: false } };
}

function single(answer: FhirAnswer) {
	assert.ok(answer.kind === 'resource');
	const text = Buffer.from(answer.body).toString();
	return { ...answer, body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>) };
}

const patient = { resourceType: 'Patient', gender: 'female' };
const wrong = { resourceType: 'Patient', gender: 'neither' };
const entry = (resource: object, method = 'POST', url = 'Patient') => ({ resource, request: { method, url } });
const bundle = (type: string, entries: object[]) => fhir('POST', '', { resourceType: 'Bundle', type, entry: entries });

describe('a FHIR request', () => {
	test('that creates is answered 201 with the resource, and leaves no message in the log', () => {
		const { reply, logged } = new MemoryBatch().take(fhir('POST', 'Patient', patient));
		const { status, body, resource } = single(reply.answer);
		assert.deepEqual(
			[reply.messageType, reply.controlId, status, resource?.type, resource?.version],
			['POST Patient', '', 201, 'Patient', 1],
		);
		assert.equal(body?.['gender'], 'female');
		assert.deepEqual(logged, []);
	});

	test('that wants nothing back is answered without a body', () => {
		const { reply } = new MemoryBatch().take(fhir('POST', 'Patient', patient, { prefer: 'return=minimal' }));
		const { status, body, resource } = single(reply.answer);
		assert.deepEqual([status, body, resource?.type], [201, undefined, 'Patient']);
	});

	test('that is refused has the status of its failure and an OperationOutcome, which is logged', () => {
		const taken = new MemoryBatch().take(fhir('POST', 'Patient', wrong));
		const { status, body, resource } = single(taken.reply.answer);
		assert.deepEqual([taken.reply.outcome, status, body?.['resourceType'], resource], ['refused', 400, 'OperationOutcome', undefined]);
		assert.deepEqual(loggedAcks(taken), [JSON.stringify(body)]);
	});

	test('that only validates changes nothing', () => {
		const { reply, logged } = new MemoryBatch().take(fhir('POST', 'Patient/$validate', wrong));
		assert.deepEqual([reply.outcome, single(reply.answer).status, logged], ['ignored', 200, []]);
	});

	test('that ended its worker is refused unread, and named by its method and type', () => {
		const { reply } = new MemoryBatch().take({ ...fhir('PUT', 'Patient/1', patient), withheld: 'crash' as const });
		assert.deepEqual([reply.messageType, single(reply.answer).status], ['PUT Patient', 500]);
	});
});

describe('a Bundle', () => {
	const shown = (answer: FhirAnswer) => {
		assert.ok(answer.kind === 'bundle');
		const statuses = answer.entries.map((part) => {
			const text = Buffer.from(part).toString();
			return text === '' ? 'read' : (JSON.parse(text) as { response: { status: string } }).response.status;
		});
		return { type: answer.type, statuses, reads: answer.reads.map(({ index, url }) => [index, url]) };
	};
	const read = { request: { method: 'GET', url: 'Patient?name=a' } };

	test('of type transaction is answered together, reads left for after the commit', () => {
		const { reply } = new MemoryBatch().take(bundle('transaction', [entry(patient), read]));
		const reads = [[1, 'Patient?name=a']];
		assert.deepEqual(shown(reply.answer), { type: 'transaction-response', statuses: ['201 Created', 'read'], reads });
	});

	test('of type transaction is refused as a whole', () => {
		const { reply, logged } = new MemoryBatch().take(bundle('transaction', [entry(patient), entry(wrong)]));
		assert.deepEqual([reply.outcome, single(reply.answer).status, logged.length], ['refused', 400, 1]);
	});

	test('of type batch is answered part by part; a refused part is logged as a request of its own', () => {
		const taken = new MemoryBatch().take(bundle('batch', [entry(patient), read, entry(wrong)]));
		const { reply, logged } = taken;
		assert.deepEqual(shown(reply.answer), {
			type: 'batch-response',
			statuses: ['201 Created', 'read', '400'],
			reads: [[1, 'Patient?name=a']],
		});
		assert.deepEqual([reply.outcome, reply.flags[0]?.text], ['accepted', '1 of 3 entries of the batch were refused']);
		assert.deepEqual(
			logged.map(({ messageType, outcome, delivery }) => [messageType, outcome, delivery.id === reply.id]),
			[['POST Patient', 'refused', false]],
		);
		assert.match(loggedAcks(taken)[0] ?? '', /^\{"response":\{"status":"400"/);
		assert.match(Buffer.from(logged[0]?.delivery.bytes ?? []).toString(), /^POST Patient\r\n/);
	});
});
