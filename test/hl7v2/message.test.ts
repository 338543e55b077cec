import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure, type FailureCode } from '#core/failure.ts';
import { Message, type Segment } from '#hl7v2/message.ts';
import { wire } from '#test/support/hl7v2.ts';

const header = 'MSH|^~\\&|APP|FAC|TO|THERE|20260102||ADT^A08^ADT_A01|C1|P|2.5.1';

function segment(message: Message, id: string): Segment {
	const found = message.first(id);
	assert.ok(found, `no ${id}`);
	return found;
}

function refuses(bytes: Uint8Array, code: FailureCode, options = {}): void {
	assert.throws(
		() => Message.parse(bytes, options),
		(error) => error instanceof Failure && error.code === code,
	);
}

describe('MSH', () => {
	test('fields are numbered as the standard does: MSH-1 is the separator, MSH-2 the encoding characters', () => {
		const msh = segment(Message.parse(wire(header)), 'MSH');
		assert.equal(msh.text(1), '|');
		assert.equal(msh.text(2), '^~\\&');
		assert.equal(msh.repetitions(2), 1);
		assert.equal(msh.components(2), 1);
		assert.equal(msh.text(2, 2), '');
		assert.equal(msh.text(3), 'APP');
		assert.equal(msh.text(9, 3), 'ADT_A01');
		assert.equal(msh.text(12), '2.5.1');
		assert.equal(msh.text(13), '');
		assert.equal(msh.raw(0), '');
	});

	test('message type, control id and version are read from it', () => {
		const message = Message.parse(wire(header));
		assert.equal(message.messageType, 'ADT^A08');
		assert.equal(message.controlId, 'C1');
		assert.equal(message.version, '2.5.1');
	});

	test('a message type without an event has no separator', () => {
		assert.equal(Message.parse(wire('MSH|^~\\&|||||||ACK|1')).messageType, 'ACK');
		assert.equal(Message.parse(wire('MSH|^~\\&|')).messageType, '');
	});

	test('a header that ends after MSH-2 is a message without fields', () => {
		const message = Message.parse(Buffer.from('MSH|^~\\&'));
		assert.equal(message.controlId, '');
		assert.equal(message.segments.length, 1);
	});

	for (const [name, text] of [
		['no bytes', ''],
		['MSH alone', 'MSH'],
		['no encoding characters', 'MSH|\rPID|1'],
		['two encoding characters', 'MSH|^~|A'],
		['six encoding characters', 'MSH|^~\\&#$|A'],
		['a delimiter that is a letter', 'MSH|^~\\A|A'],
		['a separator that is a letter', 'MSHA^~\\&A'],
		['the same delimiter twice', 'MSH|^~^&|A'],
		['a line end in MSH-2', 'MSH|^~\r\\&|A'],
		['another segment first', 'PID|1\rMSH|^~\\&|A'],
		['text', 'GET / HTTP/1.1\r\n\r\n'],
	] as const) {
		test(`${name}: not HL7`, () => refuses(Buffer.from(text), 'not-hl7'));
	}
});

describe('delimiters', () => {
	test('others than the usual are taken from MSH', () => {
		const message = Message.parse(wire('MSH$%*!@$A$B%C', 'PID$1$x|y^z~w\\v$a%b@c*d$p!S!q!F!r!R!s!E!t!T!u'));
		const pid = segment(message, 'PID');
		assert.equal(pid.text(2), 'x|y^z~w\\v');
		assert.equal(pid.text(3, 2, 0, 2), 'c');
		assert.equal(pid.text(3, 1, 1), 'd');
		assert.equal(pid.text(4), 'p%q$r*s!t@u');
		assert.equal(message.first('MSH')?.text(4, 2), 'C');
	});

	test('three encoding characters leave no subcomponents', () => {
		const pid = segment(Message.parse(wire('MSH|^~\\|A', 'PID|a&b^c\\T\\d')), 'PID');
		assert.equal(pid.text(1), 'a&b');
		assert.equal(pid.text(1, 1, 0, 2), '');
		assert.equal(pid.subcomponents(1, 1), 1);
		assert.equal(pid.text(1, 2), 'c&d');
	});

	test('the fifth character of version 2.7 is the truncation character', () => {
		const message = Message.parse(wire('MSH|^~\\&#|A', 'PID|long#|\\P\\'));
		assert.equal(message.delimiters.truncation, '#');
		assert.equal(segment(message, 'MSH').text(2), '^~\\&#');
		assert.equal(segment(message, 'PID').text(1), 'long#');
		assert.equal(segment(message, 'PID').text(2), '#');
	});
});

describe('fields', () => {
	const pid = segment(Message.parse(wire(header, 'PID|1||11^^^A&1.2&ISO~22^^^B|""|a^""^c|~x||""^""|last')), 'PID');

	test('repetitions count from 0, components and subcomponents from 1', () => {
		assert.equal(pid.text(3), '11');
		assert.equal(pid.text(3, 1, 1), '22');
		assert.equal(pid.text(3, 4), 'A');
		assert.equal(pid.text(3, 4, 0, 2), '1.2');
		assert.equal(pid.text(3, 4, 1), 'B');
		assert.equal(pid.text(3, 4, 1, 2), '');
		assert.equal(pid.text(3, 1, 2), '');
		assert.equal(pid.text(3, 5), '');
		assert.equal(pid.text(9), 'last');
		assert.equal(pid.text(99), '');
	});

	test('their numbers are told', () => {
		assert.equal(pid.repetitions(3), 2);
		assert.equal(pid.repetitions(2), 0);
		assert.equal(pid.repetitions(99), 0);
		assert.equal(pid.repetitions(6), 2);
		assert.equal(pid.components(3, 1), 4);
		assert.equal(pid.components(6), 0);
		assert.equal(pid.subcomponents(3, 4), 3);
		assert.equal(pid.subcomponents(3, 2), 0);
	});

	test('"" is null, which is present and reads as empty', () => {
		assert.equal(pid.isNull(4), true);
		assert.equal(pid.isPresent(4), true);
		assert.equal(pid.text(4), '');
		assert.equal(pid.display(4), '');
		assert.equal(pid.isNull(2), false);
		assert.equal(pid.isPresent(2), false);
		assert.equal(pid.isComponentNull(5, 2), true);
		assert.equal(pid.isComponentNull(5, 1), false);
		assert.equal(pid.text(5, 2), '');
		assert.equal(pid.isNull(8), false);
	});

	test('raw is what was sent, display is it decoded with its delimiters', () => {
		const obx = segment(Message.parse(wire(header, 'OBX|1||a^b\\T\\c~\xe9')), 'OBX');
		assert.equal(obx.raw(3), 'a^b\\T\\c~\xc3\xa9');
		assert.equal(obx.display(3), 'a^b&c~\xe9');
		assert.equal(obx.display(3, 1), '\xe9');
		assert.equal(obx.display(3, 2), '');
	});

	test('may be read in any order', () => {
		const zzz = segment(Message.parse(wire(header, 'ZZZ|1|2|3|4|5')), 'ZZZ');
		assert.deepEqual(
			[5, 1, 4, 6, 2, 3, 5].map((field) => zzz.text(field)),
			['5', '1', '4', '', '2', '3', '5'],
		);
	});
});

describe('segments', () => {
	test('keep their order; those of an id are numbered from 1', () => {
		const message = Message.parse(wire(header, 'OBR|1', 'OBX|1', 'NTE|1', 'OBX|2', 'OBR|2', 'OBX|1'));
		assert.deepEqual(
			message.segments.map(({ id, index, sequence }) => `${id} ${index} ${sequence}`),
			['MSH 0 1', 'OBR 1 1', 'OBX 2 1', 'NTE 3 1', 'OBX 4 2', 'OBR 5 2', 'OBX 6 3'],
		);
		assert.deepEqual(
			message.all('OBX').map((obx) => obx.text(1)),
			['1', '2', '1'],
		);
		assert.deepEqual(message.all('PV1'), []);
		assert.equal(message.first('PV1'), undefined);
	});

	for (const [name, end] of [
		['CR', '\r'],
		['LF', '\n'],
		['CRLF', '\r\n'],
		['LFCR', '\n\r'],
		['CR and blank lines', '\r\r \r\n'],
	] as const) {
		test(`end with ${name}`, () => {
			const message = Message.parse(Buffer.from([header, 'PID|1|a', 'PV1|2|b', ''].join(end)));
			assert.deepEqual(
				message.segments.map(({ id }) => id),
				['MSH', 'PID', 'PV1'],
			);
			assert.equal(message.version, '2.5.1');
			assert.equal(segment(message, 'PID').text(2), 'a');
			assert.equal(segment(message, 'PV1').text(2), 'b');
		});
	}

	test('a byte order mark, white space and control characters around the message are no part of it', () => {
		const around = Buffer.concat([Buffer.from('\ufeff \r\n\t'), wire(header, 'PID|1|a'), Buffer.from('\0\x1c\r\n\0\x1a')]);
		const message = Message.parse(around);
		assert.equal(message.segments.length, 2);
		assert.equal(segment(message, 'PID').text(2), 'a');
		assert.equal(message.controlId, 'C1');
		const unended = Message.parse(Buffer.from(`\x0b${header}\rPID|1|a\0\0\x1c`));
		assert.equal(segment(unended, 'PID').text(2), 'a');
	});

	test('malformed ids are kept as segments that nobody asks for, and counted', () => {
		const message = Message.parse(wire(header, 'PIDX|1', 'PV|2', 'a line of text without any separator', 'pid|3', 'PID|4'));
		assert.deepEqual(
			message.segments.map(({ id }) => id),
			['MSH', 'PIDX', 'PV', 'a line of te', 'pid', 'PID'],
		);
		assert.equal(message.malformedSegments, 4);
		assert.equal(message.first('PID')?.text(1), '4');
	});

	test('a line end within a text does not end its segment where segments end in CR', () => {
		const text = 'OBX|1|TX|R||First line\nsecond | line\n\nCT\nlast||||||F';
		for (const end of ['\r', '\r\n']) {
			const message = Message.parse(Buffer.from([header, text, 'NTE|1||a', ''].join(end)));
			assert.deepEqual(
				message.segments.map(({ id }) => id),
				['MSH', 'OBX', 'NTE'],
			);
			assert.equal(segment(message, 'OBX').text(5), 'First line\nsecond ');
			assert.equal(segment(message, 'OBX').text(6), ' line\n\nCT\nlast');
			assert.equal(message.malformedSegments, 0);
		}
		const mixed = Message.parse(Buffer.from(`${header}\rPID|1|a\nPV1|1|b\nOBX|1|c`));
		assert.deepEqual(
			mixed.segments.map(({ id }) => id),
			['MSH', 'PID', 'PV1', 'OBX'],
		);
		assert.equal(Message.parse(Buffer.from(`${header}\nOBX|1|TX|R||First\nsecond`)).malformedSegments, 1);
	});

	test('more than the limit are refused as too long', () => {
		const bytes = wire(header, ...Array.from({ length: 10 }, (_, index) => `NTE|${index}`));
		assert.equal(Message.parse(bytes, { segmentsMax: 11 }).segments.length, 11);
		refuses(bytes, 'value-too-long', { segmentsMax: 10 });
	});

	test('of a view into a larger buffer only the view is read', () => {
		const one = wire(header, 'PID|1|mine');
		const all = Buffer.concat([Buffer.from('xxxx'), one, wire('PV1|theirs')]);
		const message = Message.parse(new Uint8Array(all.buffer, all.byteOffset + 4, one.length));
		assert.equal(message.segments.length, 2);
		assert.equal(segment(message, 'PID').text(2), 'mine');
	});

	describe('a segment that ADD continues', () => {
		const of = (...segments: string[]) => Message.parse(wire(header, ...segments));
		test('goes on in its last field', () => {
			const joined = of('OBX|1|FT|18748-4||No evidence of fracture', 'ADD|, except of the left hip.||||||F', 'NTE|1||a');
			assert.equal(segment(joined, 'OBX').text(5), 'No evidence of fracture, except of the left hip.');
			assert.equal(segment(joined, 'OBX').text(11), 'F');
			assert.deepEqual(
				joined.segments.map(({ id }) => id),
				['MSH', 'OBX', 'NTE'],
			);
			assert.equal(joined.malformedSegments, 0);
		});
		test('goes on as often as the limit says', () => {
			const many = wire(header, 'OBX|1|FT|A||a', ...Array.from({ length: 5 }, () => 'ADD|b'));
			assert.equal(segment(Message.parse(many, { continuationsMax: 5 }), 'OBX').text(5), 'abbbbb');
			assert.equal(Message.parse(many, { continuationsMax: 4 }).fault?.code, 'value-too-long');
		});
		test('must be there', () => {
			assert.deepEqual(of('ADD|b').fault?.location, { segment: 'ADD', sequence: 1 });
		});
	});

	describe('a message that DSC continues', () => {
		const first = [`${header}`, 'OBX|1|FT|A||No evidence', 'ADD|', 'DSC|4711|F'];
		const fields = header.split('|');
		fields[13] = '4711';
		const second = [fields.join('|'), 'ADD| of fracture', 'NTE|1||a'];
		test('goes on under a header with its pointer, and each part is answered', () => {
			const joined = Message.parse(wire(...first, ...second));
			assert.equal(joined.fault, undefined);
			assert.deepEqual(
				joined.segments.map(({ id }) => id),
				['MSH', 'OBX', 'NTE'],
			);
			assert.equal(segment(joined, 'OBX').text(5), 'No evidence of fracture');
			assert.deepEqual(
				joined.continuations.map((part) => Buffer.from(part).toString()),
				[wire(...second).toString()],
			);
		});
		test('is not taken without its continuation, or with another one', () => {
			for (const rest of [[], ['NTE|1||a'], second.with(0, header)]) {
				assert.deepEqual(Message.parse(wire(...first, ...rest)).fault?.location, { segment: 'DSC', sequence: 1, field: 1 });
			}
		});
		test('is whole if its DSC has no pointer', () => {
			assert.equal(Message.parse(wire(header, 'OBX|1|FT|A||a', 'DSC|')).fault, undefined);
		});
	});

	test('with the byte that ends a frame inside cannot be taken, at its end it can', () => {
		assert.equal(Message.parse(wire(header, 'PID|1||Do\x1ce')).fault?.code, 'not-hl7');
		assert.equal(Message.parse(Buffer.from(`${header}\rPID|1\r\x1c\r\n`)).fault, undefined);
	});

	test('a NUL inside a value is left out, because no column can hold it', () => {
		const pid = segment(Message.parse(Buffer.from(`${header}\rPID|a\0b|c\\X00\\d\r`)), 'PID');
		assert.equal(pid.text(1), 'ab');
		assert.equal(pid.text(2), 'cd');
	});

	test('values of a large message read the same', () => {
		const large = 'x'.repeat(100_000);
		const message = Message.parse(wire(header, `OBX|1|TX|short|${large}|caf\xe9 and more than thirteen|plain and more than thirteen`));
		const obx = segment(message, 'OBX');
		assert.equal(obx.text(4), large);
		assert.equal(obx.text(3), 'short');
		assert.equal(obx.text(5), 'caf\xe9 and more than thirteen');
		assert.equal(obx.text(6), 'plain and more than thirteen');
	});
});
