import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { createLog } from '#core/log.ts';
import type { HttpAnswer, Route } from '#surfaces/http/message.ts';
import { serve } from './serving.ts';

test('requests that fail while the database is away are told once, and when one to such a route is answered it is over', async () => {
	const lines: Record<string, unknown>[] = [];
	const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) });
	let isAway = true;
	const handle = (): HttpAnswer => {
		const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
		if (isAway) throw new Failure('unavailable', 'the database cannot be reached', { cause });
		return { status: 200, body: 'stored' };
	};
	const routes: Route[] = [
		{ method: 'GET', pattern: '/stored', handle },
		{ method: 'GET', pattern: '/remembered', handle: () => ({ status: 200, body: 'remembered' }) },
	];
	const server = await serve(routes, {}, { log });
	const get = async (path: string) => (await fetch(`http://127.0.0.1:${server.port}${path}`)).status;
	for (let time = 0; time < 5; time++) {
		assert.equal(await get('/stored'), 503);
		assert.equal(await get('/remembered'), 200);
	}
	isAway = false;
	for (let time = 0; time < 2; time++) assert.equal(await get('/stored'), 200);
	await server.close(0);
	assert.deepEqual(
		lines.map(({ msg, reason, route, times }) => [msg, reason, route, times]),
		[
			['requests cannot be answered', 'the database cannot be reached', '/stored', undefined],
			['requests cannot be answered: over', undefined, undefined, 4],
		],
	);
});
