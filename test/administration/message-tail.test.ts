import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Tail } from '#administration/message-tail.ts';

type Read = ConstructorParameters<typeof Tail>[0];
type Found = Awaited<ReturnType<Read>>;

const startMs = Date.parse('2026-01-05T10:00:00Z');
const message = (id: string, second: number) =>
	({ id, received_at: new Date(startMs + second * 1000).toISOString() }) as Found['messages'][number];

/** Steps at these seconds, each finding these messages. */
async function steps(found: readonly (readonly [second: number, ids: readonly string[], cut?: boolean])[]) {
	let [nowMs, at] = [startMs, 0];
	const asked: number[] = [];
	const read: Read = async (since) => {
		asked.push((Date.parse(since) - startMs) / 1000);
		const [second, ids, cut = false] = found[at] ?? assert.fail('one step too many');
		return { messages: ids.map((id) => message(id, second)), cut };
	};
	const tail = new Tail(read, () => nowMs);
	const shown: string[] = [];
	for (const [second] of found) {
		nowMs = startMs + second * 1000;
		const { messages, skipped } = await tail.next();
		shown.push(`${skipped ? '… ' : ''}${messages.map(({ id }) => id).join(' ')}`);
		at++;
	}
	return { shown, asked };
}

describe('a tail of messages', () => {
	test('shows each message once, in whatever order they are committed', async () => {
		const { shown, asked } = await steps([
			[0, ['a', 'b']],
			[1, ['a', 'b', 'd']],
			[2, ['a', 'b', 'c', 'd']],
			[3, ['a', 'b', 'c', 'd']],
		]);
		assert.deepEqual(shown, ['a b', 'd', 'c', '']);
		assert.deepEqual(asked, [-60, -60, -59, -58]);
	});

	test('tells when messages were left out, and only then', async () => {
		const { shown } = await steps([
			[0, ['a', 'b'], true],
			[1, ['b', 'c'], true],
			[2, ['d', 'e'], true],
			[3, ['e', 'f'], true],
			[900, []],
		]);
		assert.deepEqual(shown, ['a b', 'c', '… d e', 'f', '… ']);
	});
});
