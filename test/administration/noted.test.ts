import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperationContext } from '#administration/context.ts';
import { eachHour, noteOnce } from '#administration/images/noted.ts';

const noon = Date.UTC(2026, 0, 5, 12);

/** A context whose events are written when the test says so. */
function viewer(name: string) {
	const writes: PromiseWithResolvers<void>[] = [];
	const run = () => {
		const write = Promise.withResolvers<void>();
		writes.push(write);
		return write.promise;
	};
	const look = (atMs: number, more: { source?: string } = {}) =>
		({ actor: { name }, source: '10.0.0.1', nowMs: () => atMs, database: { run }, ...more }) as unknown as OperationContext;
	return { writes, look };
}

const seen = { action: 'study.picture', subject: '1.2.3', siteId: '018f0000-0000-7000-8000-000000000001' };

describe('a look that is recorded once', () => {
	test('is recorded by one event, for which looks that come meanwhile wait', async () => {
		const { writes, look } = viewer('one@example.org');
		const looks = [noteOnce(look(noon), seen), noteOnce(look(noon + 1), seen)];
		assert.equal(writes.length, 1);
		const state = await Promise.race([looks[1]?.then(() => 'shown'), new Promise((resolve) => setImmediate(resolve, 'waits'))]);
		assert.equal(state, 'waits');
		writes[0]?.resolve();
		await Promise.all(looks);
		void noteOnce(look(noon + 60_000), seen);
		void noteOnce(look(noon + 60_000, { source: '10.0.0.2' }), seen);
		assert.equal(writes.length, 3);
	});

	test('is recorded by the next look when its event could not be written', async () => {
		const { writes, look } = viewer('two@example.org');
		const first = noteOnce(look(noon), seen, eachHour);
		writes[0]?.reject(new Error('the database is away'));
		await assert.rejects(first, /away/);
		void noteOnce(look(noon + 1000), seen, eachHour);
		assert.equal(writes.length, 2);
		void noteOnce(look(noon + 3_600_000, { source: '10.0.0.2' }), seen, eachHour);
		assert.equal(writes.length, 2, 'an hour of the second look, whatever the address');
		void noteOnce(look(noon + 3_601_000), seen, eachHour);
		assert.equal(writes.length, 3);
	});
});
