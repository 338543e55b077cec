import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Message } from '#hl7v2/message.ts';
import type { Segment } from '#hl7v2/segment.ts';
import { wire } from '#test/support/hl7v2.ts';
import { searched } from '#test/support/searched.ts';

const header = 'MSH|^~\\&|APP|FAC|TO|THERE|20260102||ORU^R01^ORU_R01|C1|P|2.5.1';

function obx(...fields: readonly string[]): Segment {
	const segment = Message.parse(wire(header, ['OBX', ...fields].join('|'))).first('OBX');
	assert.ok(segment);
	return segment;
}

/** Five delimiters and two line ends, some searched again after reading backwards; the same for a text of any length. */
const passesMax = 16;

describe('the work of reading grows with the message, not with its square', () => {
	for (const count of [1000, 20_000]) {
		test(`${count} repetitions, with other fields read in between`, () => {
			const value = Array.from({ length: count }, (_, index) => `v${index}^second`).join('~');
			const segment = obx('1', 'ST', 'CODE^Text^LN', '', value, 'mg');
			const work = searched(() => {
				for (let repetition = 0; repetition < count; repetition++) {
					assert.equal(segment.text(5, 1, repetition), `v${repetition}`);
					assert.equal(segment.text(5, 2, repetition), 'second');
					assert.equal(segment.text(2), 'ST');
				}
			});
			assert.ok(work.calls < passesMax * count, `${work.calls} searches`);
			assert.ok(work.characters < passesMax * value.length, `${work.characters} characters`);
		});

		test(`${count} components and subcomponents`, () => {
			const value = Array.from({ length: count }, (_, index) => `c${index}&s`).join('^');
			const segment = obx('1', 'NA', 'CODE', '', value);
			const work = searched(() => {
				for (let component = 1; component <= count; component++) {
					assert.equal(segment.subcomponents(5, component), 2);
					assert.equal(segment.text(5, component, 0, 2), 's');
				}
			});
			assert.ok(work.characters < passesMax * value.length, `${work.characters} characters`);
		});

		test(`${count} empty fields, read in order and again`, () => {
			const segment = obx(...Array.from({ length: count }, () => ''));
			const work = searched(() => {
				for (let pass = 0; pass < 5; pass++) for (let field = 1; field <= count; field++) assert.equal(segment.text(field), '');
			});
			assert.ok(work.calls <= count + 2, `${work.calls} searches`);
		});

		test(`${count} segments, blank lines and line ends of both kinds`, () => {
			const lines = Array.from({ length: count }, (_, index) => `NTE|${index}||note${index % 3 === 0 ? '\r\n' : '\n\r'}`);
			const bytes = Buffer.from(`${header}\r${lines.join('')}`);
			const work = searched(() => {
				const message = Message.parse(bytes);
				assert.equal(message.all('NTE').length, count);
				assert.equal(message.first('NTE')?.text(1), '0');
				for (const segment of message.segments) assert.equal(segment.text(9), segment.id === 'NTE' ? '' : 'ORU');
			});
			assert.ok(work.characters < passesMax * bytes.length, `${work.characters} characters`);
		});
	}

	test('a value of 8 MB is searched a fixed number of times', () => {
		const segment = obx('1', 'ED', 'CODE', '', `^^^Base64^${'A'.repeat(8 << 20)}`, '', '', '', '', '', 'F');
		const work = searched(() => {
			for (let reading = 0; reading < 10; reading++) {
				assert.equal(segment.text(5, 5).length, 8 << 20);
				assert.equal(segment.text(11), 'F');
				assert.equal(segment.repetitions(5), 1);
			}
		});
		assert.ok(work.characters < passesMax * (8 << 20), `${work.characters} characters`);
	});
});
