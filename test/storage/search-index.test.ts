import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { indexedTypes } from '#fhir/search/indexed-types.ts';
import { restAfter, SearchIndex } from '#storage/search-index.ts';

describe('the index of elements', () => {
	test('rests long while much arrives, shortly once it is behind, and hardly once it is far behind, whatever arrives', () => {
		assert.equal(restAfter(10, { isBusy: false, fullSteps: 0 }), 40);
		assert.equal(restAfter(10, { isBusy: true, fullSteps: 7 }), 990);
		assert.equal(restAfter(10, { isBusy: true, fullSteps: 8 }), 10);
		assert.equal(restAfter(10, { isBusy: false, fullSteps: 8 }), 10);
		assert.equal(restAfter(10, { isBusy: true, fullSteps: 39 }), 10);
		assert.equal(restAfter(10, { isBusy: true, fullSteps: 40 }), 1);
	});

	test('takes in what waits of every site in a round, though one of them never reaches its end', async () => {
		const steps = new Map<string, number>();
		const runOpened = async ({ name }: { name: string }, [siteId]: readonly unknown[]) => {
			if (name === 'read_turns_to_index') return [['2026-01-01', '1', '2', '{"large":"1","small":"1"}']];
			if (name.startsWith('index_')) {
				steps.set(String(siteId), (steps.get(String(siteId)) ?? 0) + 1);
				return [[siteId === 'large' ? '500' : '3']];
			}
			return [['Observation']];
		};
		const index = new SearchIndex({ connection: { runOpened } as never, types: indexedTypes, pace: 0 });
		assert.equal(await index.round(), false);
		assert.deepEqual(
			[...steps],
			[
				['large', 20],
				['small', 1],
			],
		);
		assert.equal(await index.round(), false);
		assert.equal(steps.get('large'), 40);
	});
});
