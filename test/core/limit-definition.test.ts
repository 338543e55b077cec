import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultsOf, readLimits } from '#core/limit-definition.ts';

const definitions = {
	framesMax: { variable: 'FRAMES_MAX', default: 8, min: 1, max: 100, answer: 'a further frame waits' },
	idleMsMax: { variable: 'IDLE_MS_MAX', default: 1000, min: 0, max: 60_000, answer: 'the connection is closed' },
} as const;

function refuse(variable: string, reason: string): never {
	throw new Error(`${variable}: ${reason}`);
}

describe('limits', () => {
	test('have their defaults where no variable is set, or an empty one', () => {
		assert.deepEqual(defaultsOf(definitions), { framesMax: 8, idleMsMax: 1000 });
		assert.deepEqual(readLimits(definitions, { FRAMES_MAX: '' }, refuse), { framesMax: 8, idleMsMax: 1000 });
	});

	test('take what the variables say, up to and including their bounds', () => {
		assert.deepEqual(readLimits(definitions, { FRAMES_MAX: '100', IDLE_MS_MAX: '0' }, refuse), { framesMax: 100, idleMsMax: 0 });
	});

	test('refuse what is no whole number within the bounds, and name the variable', () => {
		for (const text of ['0', '101', '1.5', 'many', '-1', 'NaN']) {
			assert.throws(
				() => readLimits(definitions, { FRAMES_MAX: text }, refuse),
				/^Error: FRAMES_MAX: expected a whole number from 1 to 100$/,
			);
		}
	});

	test('cannot be changed afterwards', () => {
		assert.ok(Object.isFrozen(defaultsOf(definitions)));
	});
});
