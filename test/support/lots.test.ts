import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lotsOf } from './lots.ts';

const files = (count: number) => Array.from({ length: count }, (_, index) => `test/${index}.test.ts`);

describe('lots of test files', () => {
	for (const [count, processes, sizes] of [
		[0, 3, []],
		[1, 3, [1]],
		[3, 3, [1, 1, 1]],
		[8, 3, [3, 3, 2]],
		[37, 3, [13, 12, 12]],
		[42, 3, [14, 14, 14]],
		[43, 3, [11, 11, 11, 10]],
	] as const) {
		test(`${count} files for ${processes} processes are ${sizes.length} lots`, () => {
			const lots = lotsOf(files(count), processes);
			assert.deepEqual(
				lots.map((lot) => lot.length),
				sizes,
			);
			assert.deepEqual(lots.flat().sort(), files(count).sort());
		});
	}
});
