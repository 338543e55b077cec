import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { ofOwnPages } from '#surfaces/admin/guard.ts';
import type { HttpRequest } from '#surfaces/http/message.ts';

const request = { header: (name: string) => (name === 'host' ? 'localhost:8083' : undefined), secure: false } as HttpRequest;
const answering = (error: unknown) => ofOwnPages({ method: 'GET', pattern: '/' }, () => Promise.reject(error)).handle(request);

test('while the database is away the admin API answers 503 with Retry-After; what is a fault of ours stays one', async () => {
	for (const code of ['57P01', '08006', 'ECONNREFUSED', '40P01'])
		await assert.rejects(
			async () => answering(Object.assign(new Error('lost'), { code })),
			{ code: 'unavailable', retryAfterSeconds: 5 },
			code,
		);
	const full = new Failure('unavailable', 'too many live views are open', { retryAfterSeconds: 10 });
	await assert.rejects(async () => answering(full), full);
	await assert.rejects(async () => answering(new TypeError('x is undefined')), { name: 'TypeError' });
});
