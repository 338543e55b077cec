import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLog } from '#core/log.ts';
import type { TraceEnd, TraceStart, Tracing } from '#record/tracing.ts';
import { eventually } from '#test/support/eventually.ts';
import { serve } from './serving.ts';

const ids = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' };

/** Notes what it is told. */
function notes(): { tracing: Tracing; starts: TraceStart[]; ends: TraceEnd[] } {
	const starts: TraceStart[] = [];
	const ends: TraceEnd[] = [];
	const begin = (start: TraceStart) => {
		starts.push(start);
		let isOver = false;
		const end = (how: TraceEnd) => {
			if (!isOver) ends.push(how);
			isOver = true;
		};
		return { ids, end };
	};
	return { tracing: { begin, enqueued: () => undefined, carriedOut: () => undefined }, starts, ends };
}

describe('the trace of a request', () => {
	test('log lines about it name it, and what fails here is an error', async () => {
		const lines: Record<string, unknown>[] = [];
		const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
		const { tracing, starts, ends } = notes();
		const handle = () => Promise.reject(new Error('a bug'));
		const server = await serve([{ method: 'GET', pattern: '/things/:id', isPublic: true, handle }], {}, { log, tracing });
		assert.equal((await fetch(`http://127.0.0.1:${server.port}/things/4711?name=Ann`)).status, 500);
		await server.close(1000);
		const [line] = lines.filter(({ msg }) => msg === 'request failed');
		assert.deepEqual([line?.['trace_id'], line?.['span_id']], [ids.trace_id, ids.span_id]);
		assert.equal(starts[0]?.name, 'GET');
		assert.deepEqual(ends, [
			{
				name: 'GET /things/:id',
				attributes: { 'http.response.status_code': 500, 'http.route': '/things/:id' },
				error: '500',
			},
		]);
	});

	test('what nobody serves has no route, and the method is one that is known', async () => {
		const { tracing, starts, ends } = notes();
		const server = await serve([], {}, { tracing });
		await fetch(`http://127.0.0.1:${server.port}/Ann/4711`, { method: 'PROPFIND' });
		await server.close(1000);
		assert.equal(starts[0]?.name, 'HTTP');
		assert.equal(starts[0]?.attributes?.['http.request.method'], '_OTHER');
		assert.deepEqual(ends, [{ attributes: { 'http.response.status_code': 404 }, error: undefined }]);
	});

	test('a caller who goes before the answer ends it as an error', async () => {
		const { tracing, starts, ends } = notes();
		let answer = (): void => undefined;
		const held = new Promise<void>((resolve) => {
			answer = resolve;
		});
		const handle = async () => {
			await held;
			return { status: 200 };
		};
		const server = await serve([{ method: 'GET', pattern: '/slow', isPublic: true, handle }], {}, { tracing });
		const leaving = new AbortController();
		const asked = fetch(`http://127.0.0.1:${server.port}/slow`, { signal: leaving.signal }).catch(() => undefined);
		await eventually(() => starts.length > 0, 'the request');
		leaving.abort();
		await eventually(() => ends.length > 0, 'the end of the trace');
		answer();
		await asked;
		await server.close(1000);
		assert.deepEqual(ends, [{ error: 'aborted' }]);
	});
});
