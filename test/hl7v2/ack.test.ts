import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure, type FailureCode, failureCodes } from '#core/failure.ts';
import { type Acknowledgement, acknowledgementId, renderAck } from '#hl7v2/ack.ts';
import { Message } from '#hl7v2/message.ts';
import { wire } from '#test/support/hl7v2.ts';

const nowMs = Date.UTC(2026, 0, 31, 12, 0, 5, 7);

function ack(source: Message | Uint8Array, rest: Partial<Acknowledgement> = {}): string[] {
	const text = Buffer.from(renderAck({ source, code: 'AA', controlId: 'OURS', nowMs, ...rest })).toString('latin1');
	assert.ok(text.endsWith('\r'), 'every segment ends in CR');
	return text.slice(0, -1).split('\r');
}

const header = 'MSH|^~\\&|APP^1|FAC|TO|THERE^2|20260102||ADT^A08^ADT_A01|C1|T|2.3|||AL|NE||8859/1';

describe('the answer', () => {
	test('turns applications and facilities round and mirrors processing id, version and character set', () => {
		assert.deepEqual(ack(wire(header)), [
			'MSH|^~\\&|TO|THERE^2|APP^1|FAC|20260131120005.007+0000||ACK^A08^ACK|OURS|T|2.3||||||8859/1',
			'MSA|AA|C1',
		]);
	});

	test('to a sender that names neither is P and 2.5.1', () => {
		assert.deepEqual(ack(wire('MSH|^~\\&|||||||ACK|7')), ['MSH|^~\\&|||||20260131120005.007+0000||ACK|OURS|P|2.5.1', 'MSA|AA|7']);
	});

	test('has an id of its own in 20 characters, also beside another answer to the same message', () => {
		const id = '0199c0de-1234-7abc-8000-123456789abc';
		assert.equal(acknowledgementId(id, 'AA'), '0199c0de12347abc80AA');
		assert.equal(acknowledgementId(id, 'CA'), '0199c0de12347abc80CA');
	});

	test('uses the delimiters of the sender', () => {
		const failure = new Failure('data-type', 'PID-7 | $ %', { location: { segment: 'PID', field: 7, repetition: 1, component: 2 } });
		assert.deepEqual(ack(wire('MSH$%*!@#$A$B$$$$$ADT%A08$7'), { code: 'AE', failure }), [
			'MSH$%*!@#$$$A$B$20260131120005.007+0000$$ACK%A08%ACK$OURS$P$2.5.1',
			'MSA$AE$7$PID-7 | !F! !S!',
			'ERR$$PID%1%7%1%2$102%Data type error%HL70357$E$$$$PID-7 | !F! !S!',
		]);
	});

	test('echoes MSH-10 byte for byte, whatever is in it', () => {
		const bytes = Buffer.from('MSH|^~\\&|A||||||ADT^A08| \xe9\\T\\^x~y|P|2.5.1\r', 'latin1');
		assert.equal(ack(bytes)[1], 'MSA|AA| \xe9\\T\\^x~y');
		assert.equal(ack(Message.parse(bytes))[1], 'MSA|AA| \xe9\\T\\^x~y');
	});

	for (const [sent, echoed, field] of [
		['MSH|^^^^|APP|FAC|||20260102||ADT^A08|C 1\\T\\|P|2.5.1\rPID|1', 'C 1\\T\\', '|'],
		['MSH||^~\\&|APP|FAC|||20260102||ADT^A08|C1|P', 'ADT^A08', '|'],
		['MSH$ab$APP$FAC$$$20260102$$ADT^A08$C1', 'C1', '$'],
		['MSH|^~\\', '', '|'],
	] as const) {
		test(`to a header with an unusable MSH-2 (${sent.slice(0, 12)}) repeats the tenth field as it is`, () => {
			const failure = new Failure('not-hl7', 'no delimiters');
			const [, msa] = ack(Buffer.from(sent), { code: 'AE', failure });
			assert.equal(msa, ['MSA', 'AE', echoed, 'no delimiters'].join(field));
		});
	}

	test('to bytes that are no message has the usual delimiters and an empty MSA-2', () => {
		const failure = new Failure('not-hl7', 'no MSH');
		for (const bytes of [Buffer.alloc(0), Buffer.from('GET / HTTP/1.1'), Buffer.from('MSH|^^'), Buffer.from([0xff, 0, 0x1c])]) {
			assert.deepEqual(ack(bytes, { code: 'AE', failure }), [
				'MSH|^~\\&|||||20260131120005.007+0000||ACK|OURS|P|2.5.1',
				'MSA|AE||no MSH',
				'ERR|||100^Segment sequence error^HL70357|E||||no MSH',
			]);
		}
	});
});

describe('a failure', () => {
	test('is told in MSA-3 and in ERR with its place, its code and its text', () => {
		const failure = new Failure('required-field-missing', 'PID-3 is missing', { location: { segment: 'PID', sequence: 2, field: 3 } });
		assert.deepEqual(ack(wire(header), { code: 'AE', failure }).slice(1), [
			'MSA|AE|C1|PID-3 is missing',
			'ERR||PID^2^3|101^Required field missing^HL70357|E||||PID-3 is missing',
		]);
	});

	test('has a text of table 0357 for every code', () => {
		for (const code of Object.keys(failureCodes) as FailureCode[]) {
			const failure = { code, diagnostics: 'x' };
			assert.match(ack(wire(header), { code: 'AE', failure })[2] ?? '', /^ERR\|\|\|\d{3}\^[A-Z][A-Za-z ]+\^HL70357\|E\|\|\|\|x$/);
		}
	});

	test('is written in the character set of the sender', () => {
		const failure = { code: 'unsupported-event', diagnostics: 'Zoë\u4e9c' } as const;
		assert.equal(ack(wire(header), { code: 'AE', failure })[1], 'MSA|AE|C1|Zo\xeb?');
		assert.equal(ack(wire(header.replace('8859/1', 'UNICODE UTF-8')), { code: 'AE', failure })[1], 'MSA|AE|C1|Zo\xc3\xab\xe4\xba\x9c');
	});

	test('ends no segment and is cut where it is long', () => {
		const failure = { code: 'invalid', diagnostics: `a\r\nb${'x'.repeat(1000)}` } as const;
		const lines = ack(wire(header), { code: 'AE', failure });
		assert.equal(lines.length, 3);
		assert.equal(lines[1], `MSA|AE|C1|a  b${'x'.repeat(246)}`);
	});
});

test('a note without a failure stands in MSA-3 alone', () => {
	assert.deepEqual(ack(wire(header), { text: 'ignored' }).slice(1), ['MSA|AA|C1|ignored']);
});
