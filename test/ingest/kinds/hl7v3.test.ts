import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Hl7v3Delivery } from '#record/delivery.ts';
import { registryMessage } from '#test/support/hl7v3.ts';
import { carried, loggedAcks, MemoryBatch } from '#test/support/interpretation.ts';

const patient =
	'<id root="1.2.3.9" extension="P1"/><statusCode code="active"/><patientPerson><name><family>Muster</family></name></patientPerson>';

function hl7v3(xml: string): Hl7v3Delivery {
	return { ...carried(), kind: 'hl7v3', surface: 'hl7-http', bytes: Buffer.from(xml) };
}

function codeOf({ answer }: { answer: { acknowledgements: readonly Uint8Array[] } }): string | undefined {
	assert.equal(answer.acknowledgements.length, 1);
	return /<typeCode code="(\w+)"/.exec(Buffer.from(answer.acknowledgements[0] ?? []).toString())?.[1];
}

describe('an HL7 v3 message', () => {
	const message = registryMessage({ patients: [patient], acceptAckCode: 'AL' });

	test('that is accepted is answered with MCCI_IN000002UV01, which is logged as it is sent', () => {
		const taken = new MemoryBatch().take(hl7v3(message));
		assert.deepEqual([taken.reply.outcome, taken.reply.messageType, codeOf(taken.reply)], ['accepted', 'PRPA_IN201301UV02', 'CA']);
		assert.deepEqual(
			loggedAcks(taken),
			taken.reply.answer.acknowledgements.map((ack) => Buffer.from(ack).toString()),
		);
		assert.match(loggedAcks(taken)[0] ?? '', /MCCI_IN000002UV01/);
	});

	test('that is refused is answered with an error', () => {
		const { reply } = new MemoryBatch().take(hl7v3(registryMessage({ patients: ['<id nullFlavor="UNK"/>'], acceptAckCode: 'AL' })));
		assert.deepEqual([reply.outcome, codeOf(reply)], ['refused', 'CE']);
	});

	test('that comes again is answered as before; other content under its id is flagged', () => {
		const batch = new MemoryBatch();
		const first = batch.take(hl7v3(message));
		const again = batch.take(hl7v3(message));
		assert.deepEqual([again.reply.outcome, again.reply.answer], ['duplicate', first.reply.answer]);
		const { reply } = batch.take(hl7v3(message.replace('Muster', 'Beispiel')));
		const text = 'the message id was used before for a message with other content';
		assert.deepEqual(reply.flags, [{ code: 'same-control-id', text }]);
	});

	test('that is none, or ended its worker, is refused as HL7v3', () => {
		for (const delivery of [hl7v3('<html/>'), { ...hl7v3(message), withheld: 'crash' as const }]) {
			const { reply } = new MemoryBatch().take(delivery);
			assert.deepEqual([reply.outcome, reply.messageType], ['refused', 'HL7v3']);
		}
	});
});
