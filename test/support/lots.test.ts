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
		[60, 3, [20, 20, 20]],
		[61, 3, [16, 15, 15, 15]],
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
