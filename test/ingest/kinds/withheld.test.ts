import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeRequest } from '#fhir/write/request.ts';
import type { Delivery } from '#record/delivery.ts';
import { adt } from '#test/support/adt.ts';
import { carried, MemoryBatch } from '#test/support/interpretation.ts';

const text = 'processing takes more processor time than is allowed (MESSAGE_CPU_MS_MAX)';

const deliveries: [what: string, delivery: Delivery, named: [messageType: string, controlId: string], answer: RegExp][] = [
	[
		'HL7 v2',
		{ ...carried(), kind: 'hl7v2', surface: 'mllp', bytes: Buffer.from(adt('M1', 'A', 1)) },
		['ADT^A08', 'M1'],
		/MSA\|AE\|M1\|processing/,
	],
	['HL7 v3', { ...carried(), kind: 'hl7v3', surface: 'hl7-http', bytes: Buffer.from('<a/>') }, ['HL7v3', ''], /processing takes/],
	[
		'FHIR',
		{
			...carried(),
			kind: 'fhir',
			surface: 'fhir',
			bytes: encodeRequest({ method: 'POST', url: 'Patient', headers: {}, body: Buffer.from('{}') }),
		},
		['POST Patient', ''],
		/too-costly/,
	],
	[
		'MPPS',
		{ ...carried(), kind: 'mpps', surface: 'mpps', operation: 'report', bytes: Buffer.from('{}') },
		['MPPS', ''],
		/processing takes/,
	],
];

describe('a delivery that took too much processor time twice', () => {
	for (const [what, delivery, named, expected] of deliveries) {
		test(`is refused as 422 without being read: ${what}`, () => {
			const { reply, logged } = new MemoryBatch().take({ ...delivery, withheld: 'time' });
			assert.deepEqual([reply.outcome, reply.failure], ['refused', { code: 'too-costly', diagnostics: text }]);
			assert.deepEqual([reply.messageType, reply.controlId], named);
			assert.match(Buffer.from(JSON.stringify(reply.answer, asText)).toString(), expected);
			assert.deepEqual(logged.at(-1)?.delivery.bytes, delivery.bytes, 'it can be replayed');
		});
	}
});

function asText(_name: string, value: unknown): unknown {
	const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown };
	return type === 'Buffer' && Array.isArray(data) ? Buffer.from(data as number[]).toString() : value;
}
