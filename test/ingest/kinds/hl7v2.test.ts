import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Hl7v2Delivery } from '#record/delivery.ts';
import type { Settings } from '#record/settings/settings.ts';
import { adt } from '#test/support/adt.ts';
import { carried, loggedAcks, MemoryBatch } from '#test/support/interpretation.ts';
import { msa } from '#test/support/mllp-client.ts';

function hl7v2(text: string, settings: Settings = {}): Hl7v2Delivery {
	return { ...carried(), kind: 'hl7v2', surface: 'mllp', bytes: Buffer.from(text), settings };
}

const texts = ({ answer }: { answer: { acknowledgements: readonly Uint8Array[] } }) =>
	answer.acknowledgements.map((ack) => Buffer.from(ack).toString());
const codes = (reply: Parameters<typeof texts>[0]) => texts(reply).map((ack) => msa(ack).code);

describe('an HL7 v2 message', () => {
	test('that is accepted is answered AA, and logged with the acknowledgement as it is sent', () => {
		const taken = new MemoryBatch().take(hl7v2(adt('M1', 'A', 1)));
		const { reply } = taken;
		assert.deepEqual([reply.outcome, reply.messageType, reply.controlId, codes(reply)], ['accepted', 'ADT^A08', 'M1', ['AA']]);
		assert.deepEqual(loggedAcks(taken), texts(reply));
		assert.deepEqual(taken.logged[0]?.patients, ['A']);
	});

	test('that is refused is answered AE with the reason, and logged with the number of its patient', () => {
		const taken = new MemoryBatch().take(hl7v2(adt('M1', 'A', 1, 'A28')));
		assert.deepEqual([taken.reply.outcome, taken.reply.failure?.code, codes(taken.reply)], ['refused', 'unsupported-event', ['AE']]);
		assert.deepEqual(taken.logged[0]?.patients, ['A']);
	});

	test('whose event the client wants ignored is answered AA, and changes nothing', () => {
		const taken = new MemoryBatch().take(hl7v2(adt('M1', 'A', 1, 'A05'), { ignore: ['A05'] }));
		assert.deepEqual([taken.reply.outcome, codes(taken.reply), taken.logged[0]?.changed], ['ignored', ['AA'], null]);
	});

	test('that comes again is answered byte for byte as before', () => {
		const batch = new MemoryBatch();
		const first = batch.take(hl7v2(adt('M1', 'A', 1)));
		const again = batch.take(hl7v2(adt('M1', 'A', 1)));
		assert.deepEqual([again.reply.outcome, texts(again.reply)], ['duplicate', texts(first.reply)]);
		assert.equal(again.logged[0]?.replayOf, first.reply.id);
	});

	test('with other content under a used MSH-10 is accepted and flagged', () => {
		const batch = new MemoryBatch();
		batch.take(hl7v2(adt('M1', 'A', 1)));
		const { reply } = batch.take(hl7v2(adt('M1', 'A', 2)));
		const text = 'MSH-10 was used before for a message with other content';
		assert.deepEqual([reply.outcome, reply.flags], ['accepted', [{ code: 'same-control-id', text }]]);
	});

	test('that is none is answered AE without a control id', () => {
		const { reply } = new MemoryBatch().take(hl7v2('good morning'));
		assert.deepEqual([reply.failure?.code, reply.messageType, reply.controlId, codes(reply)], ['not-hl7', '', '', ['AE']]);
	});

	test('that ended its worker is refused unread', () => {
		const { reply } = new MemoryBatch().take({ ...hl7v2(adt('M1', 'A', 1)), withheld: 'crash' as const });
		assert.deepEqual([reply.outcome, reply.failure?.code, codes(reply)], ['refused', 'internal', ['AE']]);
	});
});

/** The codes that a message with these MSH-15 and MSH-16 is answered. */
function enhanced(
	accept: string,
	application: string,
	outcome: 'accepted' | 'refused',
	ack_mode: 'original' | 'enhanced' = 'enhanced',
): string[] {
	const text = adt('1', 'A', 1, outcome === 'refused' ? 'A28' : 'A08');
	const { reply } = new MemoryBatch().take(hl7v2(text.replace('|2.5.1|||||||', `|2.5.1|||${accept}|${application}|||`), { ack_mode }));
	assert.equal(reply.outcome, outcome);
	return codes(reply);
}

describe('the setting `results`', () => {
	const message = (...obx: string[]) =>
		['MSH|^~\\&|LAB|HOSP|||20260101120000+0000||ORU^R01|P1|P|2.5.1', 'PID|1||100', 'OBR|1||F1|A^A^L', ...obx, ''].join('\r');
	const good = 'OBX|1|NM|K^K^L||4.1|mmol/L|||||F';
	const bad = 'OBX|2|QQ|N^N^L||1||||||F';
	const of = (text: string, results: 'all' | 'partial') => {
		const { reply, logged } = new MemoryBatch().take(hl7v2(text, { results }));
		return { reply, changed: logged[0]?.changed, ack: texts(reply)[0]?.split('\r').slice(1, -1) ?? [] };
	};

	test('all: one bad result refuses the message', () => {
		const { ack, changed } = of(message(good, bad), 'all');
		assert.match(ack[0] ?? '', /^MSA\|AE\|P1/);
		assert.deepEqual([ack.length, changed], [2, null]);
	});

	test('partial: the good ones are stored, AA names each one that was left out, and the message is flagged', () => {
		const { reply, ack, changed } = of(message(good, bad, 'NTE|1||of the second', 'OBX|3|NM|M^M^L||1||||||F'), 'partial');
		assert.equal(changed?.match(/Observation/g)?.length, 2);
		assert.deepEqual(reply.flags, [
			{ code: 'result-left-out', text: 'a result was left out: OBX-2 names the value type "QQ", which is not supported (OBX[2])' },
		]);
		assert.deepEqual(ack, [
			'MSA|AA|P1',
			'ERR||OBX^2^2|103^Table value not found^HL70357|W||||OBX-2 names the value type "QQ", which is not supported (OBX[2])',
		]);
	});

	test('partial: a message of which nothing could be stored is refused', () => {
		assert.match(of(message(bad), 'partial').ack[0] ?? '', /^MSA\|AE\|P1/);
	});
});

describe('enhanced acknowledgement mode', () => {
	const cases: [accept: string, application: string, accepted: string[], refused: string[]][] = [
		['', '', ['AA'], ['AE']],
		['AL', 'AL', ['CA', 'AA'], ['CA', 'AE']],
		['AL', 'NE', ['CA'], ['CE']],
		['NE', 'AL', ['AA'], ['AE']],
		['NE', 'NE', [], []],
		['ER', 'ER', [], ['AE']],
		['ER', 'NE', [], ['CE']],
		['SU', 'SU', ['CA', 'AA'], []],
		['AL', '', ['CA'], ['CE']],
		['', 'AL', ['AA'], ['AE']],
	];
	for (const [accept, application, accepted, refused] of cases) {
		test(`answers MSH-15 '${accept}' and MSH-16 '${application}' as they ask`, () => {
			assert.deepEqual(enhanced(accept, application, 'accepted'), accepted);
			assert.deepEqual(enhanced(accept, application, 'refused'), refused);
		});
	}

	test('is for clients that opted in: all others get AA or AE whatever the fields say', () => {
		assert.deepEqual(enhanced('AL', 'NE', 'accepted', 'original'), ['AA']);
		assert.deepEqual(enhanced('NE', 'NE', 'refused', 'original'), ['AE']);
	});
});
