import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interpret } from '#hl7v2/interpret.ts';
import { Message } from '#hl7v2/message.ts';
import { messages } from '../../bench/corpus.ts';

for (const kind of ['adt', 'oru', 'oru20'] as const) {
	test(`every message of the corpus '${kind}' is applied whole, with no flag and nothing left out`, () => {
		const found = new Set<string>();
		for (const bytes of messages(kind, 400)) {
			const interpreted = interpret(Message.parse(bytes), {});
			if (interpreted.kind !== 'apply') throw new Error('a message is ignored');
			for (const flag of interpreted.changeSet.flags) found.add(flag.code);
			for (const { message } of interpreted.leftOut) found.add(message);
		}
		assert.deepEqual([...found], []);
	});
}

test('times of results lie within an hour of sixty minutes', () => {
	for (const bytes of messages('oru', 400)) {
		const [, minute] = /\|\d{8}09(\d\d)00\+0000\|/.exec(bytes.toString()) ?? [];
		assert.ok(Number(minute) < 60, minute);
	}
});
