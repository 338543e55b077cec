import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { createLog } from '#core/log.ts';
import { RepeatedTrouble } from '#core/repeated.ts';

/** A trouble with a clock by hand, and the lines that it wrote. */
function observed() {
	const lines: Record<string, unknown>[] = [];
	const clock = { ms: 0 };
	const log = createLog('info', { write: (text: string) => void lines.push(JSON.parse(text)) });
	return { lines, clock, trouble: new RepeatedTrouble(log, 'the database does not take batches', () => clock.ms) };
}

const refused = (code: string) => {
	const cause = Object.assign(new Error('refused'), { code });
	return new Failure('unavailable', 'the database cannot be reached', { cause });
};

describe('a trouble that repeats itself', () => {
	test('is told with its stack the first time, once a minute by its number, and when it is over', () => {
		const { lines, clock, trouble } = observed();
		for (let second = 0; second < 75; second++) {
			clock.ms = second * 1000;
			trouble.happened(refused('ECONNREFUSED'), { lane: 1 });
		}
		trouble.over();
		trouble.over();
		assert.deepEqual(
			lines.map(({ level, msg, times, err, lane }) => ({ level, msg, times, hasStack: err !== undefined, lane })),
			[
				{ level: 'warn', msg: 'the database does not take batches', times: undefined, hasStack: true, lane: 1 },
				{ level: 'warn', msg: 'the database does not take batches, still', times: 60, hasStack: false, lane: 1 },
				{ level: 'info', msg: 'the database does not take batches: over', times: 14, hasStack: false, lane: undefined },
			],
		);
	});

	test('is another one with another code, and after it was over', () => {
		const { lines, trouble } = observed();
		trouble.happened(refused('ECONNREFUSED'));
		trouble.happened(refused('57P03'));
		trouble.happened(refused('57P03'));
		assert.equal(lines.length, 2);
		trouble.over();
		trouble.happened(refused('57P03'));
		assert.equal(lines.length, 4);
		assert.notEqual(lines.at(-1)?.['err'], undefined);
	});
});
