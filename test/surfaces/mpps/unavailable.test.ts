import { strict as assert } from 'node:assert';
import { describe, type TestContext, test } from 'node:test';
import type { AccessDirectory } from '#access/directory.ts';
import { systemClock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { silentLog } from '#core/log.ts';
import type { Reply } from '#record/delivery.ts';
import { createProcedureSteps } from '#surfaces/mpps/procedure-steps.ts';
import { createMppsSurface } from '#surfaces/mpps/surface.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { createMetrics } from '../../../src/metrics.ts';

const siteId = '0199c0de-0000-7000-8000-000000000002';
const directory: AccessDirectory = {
	grantOfKey: () => ({
		...{ keyId: 'key1', siteId, siteSlug: 'west', settings: {} },
	}),
	mayConnect: () => false,
	matchSender: () => ({ kind: 'no-address' }),
};

async function start(t: TestContext, state: { up: boolean; room: boolean; deliver(): Promise<Reply> }) {
	const gateway = {
		deliver: () => state.deliver(),
		hasRoom: () => state.room,
		whenRoom: () => Promise.resolve(),
		available: () => state.up,
	};
	const limits = { ...defaultLimits, unavailableMsMax: 100 };
	const metrics = createMetrics({ processMetrics: false });
	const context = { directory, gateway, limits, metrics, log: silentLog, clock: systemClock };
	const server = await createMppsSurface(context, { host: '127.0.0.1', port: 0, trustedProxies: [], documented: false, version: '1' });
	t.after(() => server.close(0));
	const steps = createProcedureSteps(context);
	return {
		post: () =>
			fetch(`http://127.0.0.1:${server.port}/ingest`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }),
		create: () =>
			steps.create({ siteId, siteSlug: 'west', clientId: undefined, settings: {}, source: 'x', sopInstanceUid: '1.2', attributes: {} }),
	};
}

describe('a service that cannot store', () => {
	const never = () => new Promise<Reply>(() => undefined);
	const cases = {
		'is away': { up: false, room: true, deliver: never },
		'has a full mailbox': { up: true, room: false, deliver: never },
		'turns the report away': { up: true, room: true, deliver: () => Promise.reject(new Failure('unavailable', 'no room')) },
		'does not answer in time': { up: true, room: true, deliver: never },
	};
	for (const [what, state] of Object.entries(cases)) {
		test(`because it ${what} says 503 with Retry-After, and 0x0213 over DIMSE`, async (t) => {
			const { post, create } = await start(t, state);
			const answer = await post();
			assert.equal(answer.status, 503);
			assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
			assert.equal(((await answer.json()) as { success: boolean }).success, false);
			assert.equal((await create()).status, 0x0213);
		});
	}

	test('for a reason that is a bug says 500 without it', async (t) => {
		const { post, create } = await start(t, { up: true, room: true, deliver: () => Promise.reject(new Error('secret')) });
		const answer = await post();
		assert.equal(answer.status, 500);
		assert.doesNotMatch(await answer.text(), /secret/);
		await assert.rejects(create, /secret/);
	});
});
