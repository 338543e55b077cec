import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { renderAck } from '#hl7v2/ack.ts';
import { countMessages, splitMessages } from '#hl7v2/batch.ts';
import type { Delimiters } from '#hl7v2/delimiters.ts';
import { readHead } from '#hl7v2/head.ts';
import { Message } from '#hl7v2/message.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { type FieldModel, renderMessage, type SegmentModel } from '#test/support/hl7v2.ts';

const delimiterCharacters = Array.from("|^~\\&#!$%*+,-./:;<=>?@[]_`{}()'");
const delimiters: fc.Arbitrary<Delimiters> = fc
	.tuple(fc.shuffledSubarray(delimiterCharacters, { minLength: 5, maxLength: 5 }), fc.boolean())
	.map(([[field = '', component = '', repetition = '', mark = '', subcomponent = ''], truncates]) => {
		return { field, component, repetition, escape: mark, subcomponent, truncation: truncates ? '"' : '' };
	});

// Control characters that were escaped are left out when read, and `""` alone is null.
const value = fc
	.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.string({ unit: 'grapheme', maxLength: 8 }), fc.string({ maxLength: 40 }))
	.map((text) => text.replaceAll(/[^\P{Cc}\t\n\r\u007f-\u009f]/gu, ''))
	.filter((text) => text !== '""');
const field: fc.Arbitrary<FieldModel> = fc.oneof(
	value,
	fc.array(fc.array(fc.array(value, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
);
const segment: fc.Arbitrary<SegmentModel> = fc.record({
	id: fc.stringMatching(/^[A-Z][A-Z0-9]{2}$/).filter((id) => id !== 'MSH'),
	fields: fc.array(field, { maxLength: 8 }),
});

function asRepetitions(model: FieldModel): readonly (readonly (readonly string[])[])[] {
	return typeof model === 'string' ? [[[model]]] : model;
}

function assertReads(message: Message, models: readonly SegmentModel[]): void {
	assert.equal(message.segments.length, models.length);
	models.forEach(({ id, fields }, index) => {
		const read = message.segments[index];
		assert.ok(read);
		assert.equal(read.id, id);
		const first = id === 'MSH' ? 3 : 1;
		fields.forEach((model, offset) => {
			asRepetitions(model).forEach((components, repetition) => {
				components.forEach((subcomponents, component) => {
					subcomponents.forEach((expected, subcomponent) => {
						assert.equal(read.text(first + offset, component + 1, repetition, subcomponent + 1), expected);
					});
				});
			});
		});
	});
}

test('what was rendered is read again, whatever the delimiters, the content and the line ends', () => {
	const header = fc.array(field, { maxLength: 6 }).map((fields) => ({ id: 'MSH', fields }));
	const lineEnd = fc.constantFrom('\r', '\n', '\r\n');
	fc.assert(
		fc.property(header, fc.array(segment, { maxLength: 6 }), delimiters, lineEnd, (msh, segments, declared, end) => {
			const message = Message.parse(Buffer.from(renderMessage([msh, ...segments], declared, end), 'utf8'));
			assert.deepEqual({ ...message.delimiters }, declared);
			assertReads(message, [msh, ...segments]);
		}),
		{ numRuns: runs(300) },
	);
});

test('what was rendered is read again as part of a message too large to be kept alive', () => {
	const filler: SegmentModel = { id: 'NTE', fields: ['1', 'L', 'n'.repeat(20_000)] };
	fc.assert(
		fc.property(fc.array(segment, { maxLength: 4 }), (segments) => {
			const models = [{ id: 'MSH', fields: ['A'] }, filler, ...segments];
			assertReads(Message.parse(Buffer.from(renderMessage(models), 'utf8')), models);
		}),
		{ numRuns: runs(50) },
	);
});

/** Bytes that come near a message: its delimiters, its ids, escapes, charset names, and anything else. */
const fragment = fc.oneof(
	{ weight: 6, arbitrary: fc.constantFrom('|', '|', '^', '~', '\\', '&', '\r', '\n', '\r\n', '""', '\0', '\x0b', '\x1c\r', '\x1b', ' ') },
	{
		weight: 3,
		arbitrary: fc.constantFrom('MSH|^~\\&|', '\rMSH|^~\\&|', 'PID|', 'OBX|', 'FHS|^~\\&', 'BHS|', 'BTS|', '\ufeff', '\\X', '\\.sp'),
	},
	{
		weight: 1,
		arbitrary: fc.constantFrom('||||||||||||||||', 'UNICODE UTF-8', '8859/1', 'GB 18030-2000', 'ISO IR87', 'ASCII', 'nonsense'),
	},
	{ weight: 2, arbitrary: fc.string({ maxLength: 6 }) },
);
const bytes = fc
	.tuple(
		fc.constantFrom('', 'MSH|^~\\&|', 'MSH', ' MSH|^~\\&#|', 'MSH$%*!@$', 'MSH|^~\\|'),
		fc.array(
			fc.oneof(
				fragment.map((text) => Buffer.from(text, 'utf8')),
				fc.uint8Array({ maxLength: 4 }),
			),
			{ maxLength: 60 },
		),
	)
	.map(([start, parts]) => Buffer.concat([Buffer.from(start), ...parts]));

function parsed(input: Uint8Array): Message | undefined {
	try {
		return Message.parse(input, { segmentsMax: 50 });
	} catch (error) {
		assert.ok(error instanceof Failure, String(error));
		assert.ok(error.code === 'not-hl7' || error.code === 'value-too-long', error.code);
		return undefined;
	}
}

test('arbitrary bytes are refused with a failure or read without one, every field of them', () => {
	fc.assert(
		fc.property(fc.oneof(bytes, fc.uint8Array({ maxLength: 200 })), (input) => {
			const message = parsed(input);
			for (const read of message?.segments ?? []) {
				for (let number = 0; number < 22; number++) {
					const raw = read.raw(number);
					assert.equal(read.isPresent(number), raw !== '');
					assert.equal(read.isNull(number), raw === '""');
					assert.equal(typeof read.display(number), 'string');
					assert.equal(read.repetitions(number) > 0, raw !== '');
					for (let repetition = 0; repetition <= read.repetitions(number); repetition++) {
						assert.ok(!read.text(number, read.components(number, repetition) + 1, repetition));
						for (let component = 1; component <= read.components(number, repetition); component++) {
							assert.ok(!read.text(number, component, repetition).includes('\0'));
							assert.equal(read.text(number, component, repetition, read.subcomponents(number, component, repetition) + 1), '');
						}
					}
				}
			}
		}),
		{ numRuns: runs(1500) },
	);
});

test('the head says what the message says', () => {
	fc.assert(
		fc.property(bytes, (input) => {
			const message = parsed(input);
			const head = readHead(input);
			if (message === undefined) return;
			const msh = message.first('MSH');
			assert.deepEqual(head, {
				application: msh?.text(3),
				facility: msh?.text(4),
				messageType: message.messageType,
				controlId: message.controlId,
			});
		}),
		{ numRuns: runs(1500) },
	);
});

test('a message that is refused as not HL7 has no head', () => {
	fc.assert(
		fc.property(bytes, (input) => {
			try {
				Message.parse(input);
			} catch (error) {
				assert.ok(error instanceof Failure);
				assert.equal(readHead(input), undefined);
			}
		}),
		{ numRuns: runs(500) },
	);
});

test('every input has an acknowledgement that is a message and echoes MSH-10 byte for byte', () => {
	const failure = { code: 'data-type', diagnostics: 'PID-7 | is ^ no \\ date\r\nat all', location: { segment: 'PID', field: 7 } } as const;
	fc.assert(
		fc.property(bytes, (input) => {
			const source = parsed(input);
			const fromBytes = renderAck({ source: input, code: 'AE', controlId: 'A1', nowMs: 0, failure });
			if (source !== undefined) assert.deepEqual(renderAck({ source, code: 'AE', controlId: 'A1', nowMs: 0, failure }), fromBytes);
			const ack = Message.parse(fromBytes);
			assert.deepEqual(
				ack.segments.map(({ id }) => id),
				['MSH', 'MSA', 'ERR'],
			);
			assert.equal(ack.first('MSA')?.text(1), 'AE');
			if (source !== undefined && !source.charset.overlapsAscii) assert.equal(ack.first('MSA')?.raw(2), source.segments[0]?.raw(10));
		}),
		{ numRuns: runs(500) },
	);
});

test('splitting gives as many messages as are counted, each beginning with its own MSH', () => {
	fc.assert(
		fc.property(bytes, (input) => {
			const messages = splitMessages(input);
			assert.equal(messages.length, Math.max(1, countMessages(input)));
			if (messages.length < 2) return;
			for (const message of messages) assert.equal(Buffer.from(message).toString('latin1', 0, 3), 'MSH');
		}),
		{ numRuns: runs(1500) },
	);
});
