import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Line, type LineMessage } from '#processes/line.ts';

type Doubling = { double: { given: number; answer: number }; fail: { given: undefined; answer: undefined } };
type None = Readonly<Record<never, never>>;

/** Two ends; `deliver` has the other end take what was sent. */
function ends() {
	const sent: LineMessage[] = [];
	const asking: Line<Doubling, None> = new Line<Doubling, None>((message) => sent.push(message), {});
	const answering = new Line<None, Doubling>((message) => asking.take(message), {
		double: (given) => Promise.resolve(2 * given),
		fail: () => {
			throw new Error('it cannot');
		},
	});
	const deliver = () => {
		for (const message of sent.splice(0)) answering.take(message);
	};
	return { asking, deliver };
}

describe('a line', () => {
	test('answers each question by itself, in whatever order', async () => {
		const { asking, deliver } = ends();
		const answers = Promise.all([1, 2, 3].map((number) => asking.ask('double', number, 5000)));
		deliver();
		assert.deepEqual(await answers, [2, 4, 6]);
	});

	test('rejects where the other end cannot answer, does not, or is gone', async () => {
		// A line keeps no process alive; here nothing else does.
		const alive = setInterval(() => undefined, 1000);
		const { asking, deliver } = ends();
		const failed = asking.ask('fail', undefined, 5000);
		deliver();
		await assert.rejects(failed, /could not be answered/);
		await assert.rejects(asking.ask('double', 1, 5), /no answer to 'double'/);
		const cut = asking.ask('double', 1, 5000);
		asking.close();
		await assert.rejects(cut, /is gone/);
		await assert.rejects(asking.ask('double', 1, 5000), /is gone/);
		clearInterval(alive);
	});
});
