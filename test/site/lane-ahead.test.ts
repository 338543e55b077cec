import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Company } from '#site/company.ts';
import type { BatchOutcome } from '#site/flights.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';
import { replyTo } from './letters.ts';
import { Rig } from './rig.ts';

const limits = { batchAheadMin: 2, batchMessagesMax: 8 };
const six = 'a1 a2 a3 a4 a5 a6';

/** Two batches under way: one is carried out, one is interpreted. */
async function twoUnderWay(messages = six, more: Partial<ConstructorParameters<typeof Rig>[0]> = {}): Promise<Rig> {
	const rig = new Rig({ ...limits, ...more });
	await rig.sent(messages);
	return rig;
}

describe('what is enough for two batches', () => {
	test('is divided between them, and the second is interpreted while the first is carried out', async () => {
		const rig = await twoUnderWay();
		assert.deepEqual(rig.batches, ['a1 a2 a3', 'ahead: a4 a5 a6']);
		assert.equal(rig.lane.messagesInFlight, 6);
	});

	// Each case states the messages in flight, those that come then, and the batches that are made of them.
	const cases: [string, string, string[], string][] = [
		['a1 a2', 'a3 a4', ['a1 a2', 'ahead: a3 a4'], 'the second comes as soon as there is enough'],
		['a1 a2', 'a3', ['a1 a2'], 'too little waits for the end of the first'],
		['a1', 'a2 a3 a4', ['a1'], 'nothing goes ahead of too small a batch'],
		['a1 a2', 'a3 a4 b1 b2 c1 c2', ['a1 a2', 'ahead: a3 b1 c1 a4'], 'the sites take turns'],
		['a1 a2 a3 a4', 'b1 b2 c1', ['a1 a2', 'ahead: a3 a4'], 'there are never more than two'],
	];
	for (const [first, then, batches, title] of cases) {
		test(`${title}: ${first}, then ${then}`, async () => {
			const rig = new Rig(limits);
			await rig.sent(first);
			await rig.sent(then);
			assert.deepEqual(rig.batches, batches);
		});
	}

	test('is one batch where BATCH_AHEAD_MIN is 0', async () => {
		const rig = await twoUnderWay(six, { batchAheadMin: 0 });
		await rig.sent('a7 a8');
		assert.deepEqual(rig.batches, [six]);
	});

	test('is one batch after the other while messages of another site come, and for a while after', async () => {
		const rig = new Rig({ ...limits, siteAloneMs: 1000 });
		await rig.sent('b1');
		await rig.end();
		await rig.sent('a1 a2');
		await rig.sent('a3 a4');
		assert.deepEqual(rig.batches, ['b1', 'a1 a2']);
		await rig.end('done', 999);
		assert.deepEqual(rig.batches, ['b1', 'a1 a2', 'a3 a4']);
		await rig.sent('a5 a6');
		assert.equal(rig.batches.length, 3);
		await rig.end('done', 1);
		await rig.sent('a7 a8');
		assert.deepEqual(rig.batches.slice(3), ['a5 a6', 'ahead: a7 a8']);
	});

	test('is one batch after the other, too, while messages of another site come to another lane of the process', async () => {
		const company = new Company(new ManualTimers(), 1000);
		const [rig, other] = [new Rig(limits, { company }), new Rig(limits, { company })];
		await other.sent('b1');
		await rig.sent('a1 a2');
		await rig.sent('a3 a4');
		assert.deepEqual(rig.batches, ['a1 a2']);
	});

	test('is answered as each ends; a third one is then interpreted', async () => {
		const rig = await twoUnderWay();
		await rig.sent('b1 b2');
		assert.equal(rig.batches.length, 2);
		await rig.end();
		assert.deepEqual(rig.told.take(), ['a1 accepted', 'a2 accepted', 'a3 accepted']);
		assert.deepEqual(rig.batches[2], 'ahead: b1 b2');
		await rig.end();
		await rig.end();
		assert.deepEqual(rig.told.take(), ['a4 accepted', 'a5 accepted', 'a6 accepted', 'b1 accepted', 'b2 accepted']);
		assert.equal(rig.lane.messagesInFlight, 0);
	});

	test('is idle only when both have ended', async () => {
		const rig = await twoUnderWay();
		let isIdle = false;
		void rig.lane.idle().then(() => {
			isIdle = true;
		});
		await rig.end();
		assert.equal(isIdle, false);
		await rig.end();
		assert.equal(isIdle, true);
	});
});

test('a long message is not processed apart before those of its site that are under way are answered', async () => {
	const apart: string[] = [];
	const rig = new Rig(
		{ ...limits, batchBytesMax: 1000, longMessageBytes: 50 },
		{
			apart: (letter) => {
				apart.push(letter.delivery.id);
				letter.resolve(replyTo(letter.delivery));
				return Promise.resolve('ended');
			},
		},
	);
	await rig.sent('a1 b1');
	await rig.sent('a2:60 a3 b2 b3');
	assert.deepEqual(rig.batches, ['a1 b1', 'ahead: b2 b3']);
	assert.deepEqual(apart, []);
	await rig.end();
	assert.deepEqual([apart, rig.batches.length], [['a2'], 2]);
	await rig.end();
	assert.deepEqual(rig.batches.slice(2), ['a3']);
});

describe('when not all of the first batch is carried out', () => {
	const failed: [string, BatchOutcome][] = [
		['the database does not take it', { kind: 'unavailable' }],
		['the thread ended at one of its messages', { kind: 'crashed', at: 1, reason: 'crash' }],
		['a message is left over', { kind: 'done', replies: [replyTo({ id: 'a1' }), undefined, undefined] }],
	];
	for (const [title, outcome] of failed) {
		test(`because ${title}, the second is put back behind it, in the order of arrival`, async () => {
			const rig = await twoUnderWay();
			await rig.endWith(outcome);
			await rig.sent('a7');
			assert.equal(rig.batches.length, 2, 'nothing starts before the second has come back');
			await rig.endWith({ kind: 'behind' });
			await rig.timers.advance(10_000);
			await drainedFrom(rig, 2);
			const order = rig.told.all.map((told) => told.split(' ')[0]);
			assert.deepEqual(order, ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']);
		});
	}

	test('because the thread of both ended at one of the second, both are tried again, in order', async () => {
		const rig = await twoUnderWay();
		await rig.endWith({ kind: 'crashed', at: 'elsewhere' });
		await rig.endWith({ kind: 'crashed', at: 0 });
		await rig.timers.settle();
		await drainedFrom(rig, 2);
		assert.deepEqual(
			rig.told.all.map((told) => told.split(' ')[0]),
			['a1', 'a2', 'a3', 'a4', 'a5', 'a6'],
		);
	});

	test('nothing goes ahead until batches have their full size again', async () => {
		const rig = await twoUnderWay();
		await rig.endWith({ kind: 'crashed' });
		await rig.endWith({ kind: 'behind' });
		await rig.timers.advance(1000);
		assert.deepEqual(rig.batches.slice(2), ['a1']);
	});

	test('messages of other sites are not held with it', async () => {
		const rig = await twoUnderWay('a1 a2 b1 b2');
		assert.deepEqual(rig.batches, ['a1 b1', 'ahead: a2 b2']);
		await rig.endWith({ kind: 'done', replies: [undefined, replyTo({ id: 'b1' })] });
		await rig.endWith({ kind: 'behind' });
		await rig.timers.settle();
		assert.deepEqual(rig.batches.slice(2), ['b2']);
	});
});

/** Ends batches well from one on until nothing comes any more. */
async function drainedFrom(rig: Rig, from: number): Promise<void> {
	for (let ended = from; ended < rig.batches.length; ended++) {
		await rig.end();
		await rig.timers.advance(10_000);
	}
}

test('whatever ends how, the messages of a site take effect in order and once', async () => {
	const ends = fc.constantFrom<BatchOutcome['kind'] | 'left'>('done', 'done', 'done', 'unavailable', 'crashed', 'left');
	const steps = fc.array(
		fc.oneof(
			fc.constantFrom('a', 'a', 'b', 'c').map((site) => ({ site })),
			ends.map((end) => ({ end })),
		),
		{
			maxLength: 60,
		},
	);
	await fc.assert(
		fc.asyncProperty(steps, async (walk) => {
			const effects = new Effects();
			for (const step of walk) {
				if ('site' in step) await effects.send(step.site);
				else await effects.end(step.end);
			}
			await effects.drain();
			for (const [site, sent] of effects.sent) assert.deepEqual(effects.of(site), sent);
		}),
		{ numRuns: runs(300) },
	);
});

/** A lane whose batches store their messages, as a worker does: one that is ahead stores nothing unless all before it was stored. */
class Effects {
	readonly sent = new Map<string, string[]>();
	readonly #rig = new Rig({ ...limits, unavailableMsMax: 1e9 });
	readonly #stored: string[] = [];
	/** Tells whether all of the batch that ended last was stored. */
	#isWhole = true;
	#ended = 0;
	#number = 0;

	async send(site: string): Promise<void> {
		const name = `${site}${++this.#number}`;
		this.sent.set(site, [...(this.sent.get(site) ?? []), name]);
		await this.#rig.sent(name);
	}

	of(site: string): string[] {
		return this.#stored.filter((name) => name.startsWith(site));
	}

	async end(kind: BatchOutcome['kind'] | 'left'): Promise<void> {
		if (this.#ended === this.#rig.batches.length) return;
		const batch = this.#rig.batches[this.#ended++] ?? '';
		const isAhead = batch.startsWith('ahead: ');
		const names = batch.replace('ahead: ', '').replaceAll('!', '').split(' ').filter(Boolean);
		await this.#rig.endWith(isAhead && !this.#isWhole ? { kind: 'behind' } : this.#outcome(kind, names));
		await this.#rig.timers.settle();
	}

	#outcome(kind: BatchOutcome['kind'] | 'left', names: string[]): BatchOutcome {
		// A message left over keeps its whole site waiting.
		const held = kind === 'left' ? (names[0] ?? '').slice(0, 1) : undefined;
		const stored = kind === 'done' || kind === 'left' ? names.filter((name) => !name.startsWith(held ?? '-')) : [];
		this.#isWhole = stored.length === names.length;
		this.#stored.push(...stored);
		if (kind === 'crashed') return { kind, at: 0, reason: 'crash' };
		if (kind === 'done' || kind === 'left')
			return { kind: 'done', replies: names.map((id) => (stored.includes(id) ? replyTo({ id }) : undefined)) };
		return { kind };
	}

	async drain(): Promise<void> {
		for (let round = 0; round < 500; round++) {
			await this.#rig.timers.advance(2000);
			if (this.#ended === this.#rig.batches.length && this.#rig.lane.messagesInFlight === 0) {
				await this.#rig.timers.advance(2000);
				if (this.#ended === this.#rig.batches.length) return;
			}
			await this.end('done');
		}
		assert.fail('the lane does not come to an end');
	}
}
