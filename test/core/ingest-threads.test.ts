import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestThreadsOf } from '#core/ingest-threads.ts';

test('the ingest threads of a process leave a processor for the sockets; two processors have room for a second one', () => {
	const of = (WORKERS: number | undefined, processes: number, cores: number) => {
		const { workers, mayHaveSecondThread } = ingestThreadsOf({ WORKERS }, processes, cores);
		return `${workers}${mayHaveSecondThread ? ' and a second one' : ''}`;
	};
	assert.deepEqual(
		[1, 2, 3, 8].map((cores) => of(undefined, 1, cores)),
		['1', '1 and a second one', '2', '7'],
	);
	assert.deepEqual([of(1, 1, 2), of(4, 1, 2), of(undefined, 3, 2), of(5, 2, 8), of(1, 2, 8)], ['1', '4', '1', '3', '1']);
});
