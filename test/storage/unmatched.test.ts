import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { silentLog } from '#core/log.ts';
import { createUnmatchedLog, type UnmatchedMessage } from '#storage/unmatched.ts';
import { createMetrics } from '../../src/metrics.ts';

function message(id: string, length = 10): UnmatchedMessage {
	return {
		id,
		receivedAtMs: 0,
		surface: 'mllp',
		source: '192.0.2.7',
		reason: 'tie',
		messageType: 'ADT^A08',
		controlId: 'A\0B',
		bytes: new Uint8Array(length),
	};
}

function setUp(run: (values: readonly unknown[]) => Promise<never[]>, limits = { unmatchedMessagesMax: 3, unmatchedBytesMax: 1000 }) {
	const metrics = createMetrics({ processMetrics: false });
	const connection = { open: async () => {}, run: (_: unknown, values: readonly unknown[]) => run(values) };
	const log = createUnmatchedLog({ connection, limits, metrics, log: silentLog, retryMs: 1 });
	const counted = async (result: string) => {
		const { values } = (await metrics.registry.getSingleMetric('tributary_unmatched_messages_total')?.get()) ?? { values: [] };
		return values.filter(({ labels }) => labels['result'] === result).reduce((sum, { value }) => sum + value, 0);
	};
	return { log, counted };
}

describe('the log of unmatched traffic', () => {
	test('messages are written in order, without the NULs that PostgreSQL cannot hold', async () => {
		const rows: (readonly unknown[])[] = [];
		const { log, counted } = setUp(async (values) => {
			rows.push(values);
			return [];
		});
		log.record(message('1'));
		log.record(message('2'));
		await log.close(1000);
		assert.deepEqual(
			rows.map(([id]) => id),
			['1', '2'],
		);
		assert.equal(rows[0]?.[1], '1970-01-01T00:00:00.000Z');
		assert.equal(rows[0]?.[6], 'AB');
		assert.equal(await counted('logged'), 2);
	});

	test('a message is kept while the database is away and written when it is back', async () => {
		let attempts = 0;
		const { log, counted } = setUp(async () => {
			attempts += 1;
			if (attempts < 3) throw new Failure('unavailable', 'the database cannot be reached');
			return [];
		});
		log.record(message('1'));
		await log.close(10_000);
		assert.equal(attempts, 3);
		assert.equal(await counted('logged'), 1);
	});

	test('messages beyond the limits are counted and dropped', async () => {
		let release: () => void = () => {};
		const gate = new Promise<void>((resolve) => {
			release = resolve;
		});
		const { log, counted } = setUp(async () => {
			await gate;
			return [];
		});
		for (const id of ['1', '2', '3', '4']) log.record(message(id));
		assert.equal(await counted('dropped'), 1);
		release();
		await log.close(1000);
		assert.equal(await counted('logged'), 3);
		const small = setUp(async () => []);
		small.log.record(message('1', 1001));
		assert.equal(await small.counted('dropped'), 1);
		await small.log.close(1000);
	});

	test('a message that the database refuses does not hold up the next', async () => {
		const rows: unknown[] = [];
		const { log, counted } = setUp(async ([id]) => {
			if (id === '1') throw Object.assign(new Error('invalid byte sequence'), { code: '22021' });
			rows.push(id);
			return [];
		});
		log.record(message('1'));
		log.record(message('2'));
		await log.close(1000);
		assert.deepEqual(rows, ['2']);
		assert.equal(await counted('dropped'), 1);
	});

	test('closing while the database is away gives up after the given time', async () => {
		const { log, counted } = setUp(() => Promise.reject(new Failure('unavailable', 'the database cannot be reached')));
		log.record(message('1'));
		await log.close(5);
		assert.equal(await counted('dropped'), 1);
		log.record(message('2'));
		assert.equal(await counted('dropped'), 2);
	});
});
