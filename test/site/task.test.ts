import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Reply } from '#record/delivery.ts';
import { deliveriesOf, resultOf, taskOf } from '#site/task.ts';

const stages = { interpretMs: 0, readMs: 0, applyMs: 0, writeMs: 0, commitMs: 0, repeats: 0, bisections: 0, beganMs: 0, endedMs: 0 };
const reply = (answer: Reply['answer']): Reply => ({ id: '1', outcome: 'accepted', messageType: '', controlId: '', answer, flags: [] });
const given = { siteId: 's', clientId: 'c', source: '192.0.2.1', receivedAtMs: 0, settings: {} };

describe('a batch on its way between threads', () => {
	test('has the bytes of all deliveries in one buffer, which is handed over', () => {
		const deliveries = [
			{ ...given, id: '1', kind: 'identity' as const, surface: 'administration' as const, bytes: Buffer.from('one') },
			{ ...given, id: '2', kind: 'instance' as const, surface: 'dimse' as const, bytes: Buffer.alloc(0) },
			{ ...given, id: '3', kind: 'report' as const, surface: 'administration' as const, bytes: Buffer.from('three') },
		];
		const [task, transferred] = taskOf({ lane: 1, slot: 2, number: 3, follows: undefined, inSlices: false }, deliveries);
		assert.deepEqual(transferred, [task.bytes]);
		assert.equal(task.bytes.byteLength, 8);
		assert.deepEqual(deliveriesOf(structuredClone(task)), deliveries);
	});

	test('comes back with every answer as it was made, the bytes of all of them in one buffer', () => {
		const answers: Reply['answer'][] = [
			{ acknowledgements: [Buffer.from('CA'), Buffer.from('AA')] },
			{ acknowledgements: [] },
			{ kind: 'stored' },
			{ kind: 'resource', status: 201, body: Buffer.from('{}'), resource: { type: 'Patient', id: '1', version: 1, lastUpdated: 'now' } },
			{
				kind: 'bundle',
				type: 'batch-response',
				entries: [Buffer.from('first'), new Uint8Array(0)],
				reads: [{ index: 1, url: 'Patient/1', ifNoneMatch: undefined, ifModifiedSince: undefined }],
			},
			{ success: true, session_id: '7' },
			{ failure: undefined, superseded: 'key' },
		];
		const result = structuredClone(resultOf(answers.map(reply), stages));
		assert.ok(result.kind === 'done');
		const plain = (value: unknown) =>
			JSON.stringify(value, (_name, part) => (part instanceof Uint8Array ? Buffer.from(part).toString('latin1') : part));
		// A Buffer has a JSON of its own.
		const expected = answers.map((answer) => structuredClone(answer));
		assert.equal(plain(result.replies.map((one) => one?.answer)), plain(expected));
		const [hl7, , , fhir] = result.replies.map((one) => one?.answer);
		assert.ok(hl7 && 'acknowledgements' in hl7 && fhir && 'body' in fhir);
		const { buffer } = fhir.body;
		assert.ok(hl7.acknowledgements.every((ack) => ack.buffer === buffer));
		assert.equal(buffer.byteLength, 'CAAA{}first'.length);
	});

	test('a message that was not carried out has no reply, at its place', () => {
		const result = structuredClone(resultOf([undefined, reply({ acknowledgements: [Buffer.from('AA')] })], stages));
		assert.ok(result.kind === 'done');
		assert.deepEqual(
			result.replies.map((one) => one !== undefined),
			[false, true],
		);
	});
});
