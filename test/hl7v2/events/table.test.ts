import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { events, messageCodes } from '#hl7v2/events/index.ts';
import { interpret } from '#hl7v2/interpret.ts';
import { failureOf, header, message, plainSettings } from '../reading.ts';

const pid = 'PID|1||100^^^HOSP||Doe^Jane||19800517|F';
const pv1 = 'PV1|1|I|W1||||||||||||||||V1';
/** Enough of each event to be applied. */
const bodies: Readonly<Record<string, string[]>> = {
	'ADT^A40': [pid, 'MRG|200^^^HOSP'],
	'ADT^A37': [pid, 'PID|2||200^^^HOSP'],
	'ORU^R01': [pid, 'OBR|1||F1', 'OBX|1|NM|K^K^L||1||||||F'],
};
const body = (type: string) => bodies[type] ?? [pid, pv1];

describe('the event table', () => {
	test('has the five events of the specification for everyone', () => {
		const types = events.filter((event) => event.always).map((event) => event.messageType);
		for (const messageType of ['ADT^A01', 'ADT^A04', 'ADT^A08', 'ADT^A40', 'ORU^R01']) assert.ok(types.includes(messageType), messageType);
	});
	test('has each message type once, and each by a trigger of its own', () => {
		const types = events.map(({ messageType }) => messageType);
		assert.equal(new Set(types).size, types.length);
		assert.equal(new Set(types.map((messageType) => messageType.slice(messageType.indexOf('^')))).size, types.length);
	});
	test('another event of a type that is known is refused as an event, any other type as a type', () => {
		for (const code of messageCodes) {
			const failure = failureOf(() => interpret(message(header(`${code}^Z99`), pid), plainSettings));
			assert.equal(failure.code, 'unsupported-event', code);
		}
		const failure = failureOf(() => interpret(message(header('ZZZ^A01'), pid), plainSettings));
		assert.equal(failure.code, 'unsupported-message-type');
	});
	for (const { messageType, always } of events) {
		const trigger = messageType.slice(messageType.indexOf('^') + 1);
		test(`${messageType} is applied ${always ? 'for everyone' : 'only for a client that opted in'}`, () => {
			const sent = message(header(messageType), ...body(messageType));
			if (!always) {
				const failure = failureOf(() => interpret(sent, plainSettings));
				assert.equal(failure.code, 'unsupported-event');
				assert.ok(failure.diagnostics.includes(messageType));
			}
			const result = interpret(sent, { ...plainSettings, also: always ? [] : [trigger] });
			assert.equal(result.kind, 'apply');
			assert.equal(result.messageType, messageType);
			assert.ok(result.kind === 'apply' && result.changeSet.changes.length > 0);
		});
		test(`${messageType} is ignored for a client that asked for it, whatever its content`, () => {
			const sent = message(header(messageType), 'ZZZ|1');
			assert.deepEqual(interpret(sent, { ...plainSettings, ignore: [trigger] }), { kind: 'ignore', messageType });
			assert.equal(interpret(sent, { ...plainSettings, ignore: [messageType] }).kind, 'ignore');
		});
		test(`${messageType} without PID is refused by name`, () => {
			const failure = failureOf(() => interpret(message(header(messageType), 'EVN|A01'), { ...plainSettings, also: [trigger] }));
			assert.equal(failure.code, 'segment-sequence');
			assert.match(failure.diagnostics, /PID/);
			assert.equal(failure.location?.segment, 'PID');
		});
		test(`${messageType} gives the same change-set each time`, () => {
			const sent = message(header(messageType), ...body(messageType));
			const policy = { ...plainSettings, also: [trigger] };
			assert.equal(JSON.stringify(interpret(sent, policy)), JSON.stringify(interpret(sent, policy)));
		});
	}
	test('an event that nobody knows is ignored on request', () => {
		assert.equal(interpret(message(header('ADT^A60'), 'IAM|1'), { ...plainSettings, ignore: ['A60'] }).kind, 'ignore');
	});
});

describe('a message that is not understood', () => {
	const rows: [string, string, string, number][] = [
		['another message type', header('MDM^T02'), 'unsupported-message-type', 9],
		['another event', header('ADT^A60'), 'unsupported-event', 9],
		['an ORU event', header('ORU^R30'), 'unsupported-event', 9],
		['an ADT without event', header('ADT'), 'unsupported-event', 9],
		['no MSH-9', header(''), 'required-field-missing', 9],
		['no MSH-10', 'MSH|^~\\&|A|B|C|D|2024||ADT^A08||P|2.5.1', 'required-field-missing', 10],
		['version 1.0', 'MSH|^~\\&|A|B|C|D|2024||ADT^A08|1|P|1.0', 'unsupported-version', 12],
		['version 25', 'MSH|^~\\&|A|B|C|D|2024||ADT^A08|1|P|25', 'unsupported-version', 12],
	];
	for (const [name, msh, code, field] of rows) {
		test(`${name} is refused: ${code}`, () => {
			const failure = failureOf(() => interpret(message(msh, pid), plainSettings));
			assert.equal(failure.code, code);
			assert.deepEqual(failure.location, { segment: 'MSH', sequence: 1, field });
		});
	}
	for (const version of ['', '2', '2.1', '2.3.1', '2.5.1^NLD', '2.9']) {
		test(`version "${version}" is taken`, () => {
			assert.equal(interpret(message(`MSH|^~\\&|A|B|C|D|2024||ADT^A08|1|P|${version}`, pid), plainSettings).kind, 'apply');
		});
	}
	test('the type is named, unless it is not printable', () => {
		assert.match(failureOf(() => interpret(message(header('MDM^T02')), plainSettings)).diagnostics, /MDM\^T02/);
		assert.doesNotMatch(failureOf(() => interpret(message(header('Doe Jane 1980')), plainSettings)).diagnostics, /Jane/);
	});
});

describe('MSH-2 with the escape character doubled', () => {
	test('is read as the usual delimiters', () => {
		const sent = message(header('ADT^A08').replace('^~\\&', '^~\\\\&'), 'PID|1||100^^^A&1.2.3&ISO||D\\T\\E');
		const result = interpret(sent, plainSettings);
		assert.ok(result.kind === 'apply');
		assert.match(JSON.stringify(result.changeSet), /"family":"D&E"/);
		assert.match(JSON.stringify(result.changeSet), /"system":"urn:oid:1\.2\.3"/);
	});
});

describe('a character set that is assumed', () => {
	const bytes = (encoding: BufferEncoding) => Buffer.from([header('ADT^A08'), 'PID|1||1||Müller'].join('\r'), encoding);
	test('is flagged when the message has more than ASCII', async () => {
		const { Message } = await import('#hl7v2/message.ts');
		for (const encoding of ['utf8', 'latin1'] as const) {
			const result = interpret(Message.parse(bytes(encoding)), plainSettings);
			assert.ok(result.kind === 'apply');
			assert.deepEqual(
				result.changeSet.flags.map(({ code }) => code),
				['charset-assumed'],
			);
			assert.match(JSON.stringify(result.changeSet.changes), /Müller/);
		}
		const plain = interpret(message(header('ADT^A08'), pid), plainSettings);
		assert.ok(plain.kind === 'apply' && plain.changeSet.flags.length === 0);
	});
});
