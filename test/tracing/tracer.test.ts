import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createLog, silentLog } from '#core/log.ts';
import { steadyMs } from '#core/timers.ts';
import type { Hl7v2Delivery, Reply } from '#record/delivery.ts';
import { ExportQueue } from '#tracing/export-queue.ts';
import { SpanTracing } from '#tracing/tracer.ts';
import { defaultLimits } from '../../src/limits.ts';
import { createMetrics } from '../../src/metrics.ts';

const delivery: Hl7v2Delivery = {
	id: '1',
	kind: 'hl7v2',
	siteId: 'site',
	clientId: 'client',
	surface: 'mllp',
	source: '127.0.0.1',
	receivedAtMs: 0,
	settings: {},
	bytes: new Uint8Array(),
};
const reply: Reply = { id: '1', outcome: 'accepted', messageType: 'ADT^A08', controlId: '1', answer: { acknowledgements: [] }, flags: [] };
const start = { kind: 'consumer', name: 'HL7 v2 message', surface: 'mllp' } as const;
const stages = { interpretMs: 1, readMs: 2, applyMs: 1, writeMs: 3, commitMs: 2, repeats: 1, bisections: 0 };
const nameOf = ({ name }: ReadableSpan) => name;

function recording(): { exporter: InMemorySpanExporter; tracing: SpanTracing } {
	const exporter = new InMemorySpanExporter();
	const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
	return { exporter, tracing: new SpanTracing(provider.getTracer('test')) };
}

describe('the spans of deliveries', () => {
	test('messages of one batch have its times each, and its id', () => {
		const { exporter, tracing } = recording();
		const startedMs = performance.now();
		const traces = [tracing.begin({ ...start, startedMs }), tracing.begin({ ...start, startedMs })];
		const deliveries = [...traces.map((trace) => ({ ...delivery, trace: trace?.ids })), delivery];
		for (const each of deliveries) tracing.enqueued(each);
		const began = performance.now();
		const beganMs = steadyMs();
		const result = { stages: { ...stages, beganMs, endedMs: beganMs + 20 }, replies: [reply, reply, reply] };
		tracing.carriedOut({ deliveries, startedMs: began, endedMs: began + 25, result });
		for (const trace of traces) trace?.end({});
		const batches = exporter.getFinishedSpans().filter(({ name }) => name === 'batch');
		assert.equal(batches.length, 2);
		assert.equal(new Set(batches.map(({ attributes }) => attributes['tributary.batch.id'])).size, 1);
		for (const { attributes } of batches) assert.equal(attributes['tributary.batch.messages'], 3);
		assert.equal(batches[0]?.attributes['tributary.batch.repeats'], 1);
		const commit = exporter.getFinishedSpans().find(({ name }) => name === 'commit');
		assert.ok(Math.abs((commit?.duration[1] ?? 0) / 1e6 - stages.commitMs) < 0.01);
	});

	test('what was not carried out waits in its mailbox again, and the batch is an error', () => {
		const { exporter, tracing } = recording();
		const trace = tracing.begin({ ...start, startedMs: performance.now() });
		const traced = { ...delivery, trace: trace?.ids };
		tracing.enqueued(traced);
		const startedMs = performance.now();
		const batch = { deliveries: [traced], startedMs, endedMs: startedMs + 1 };
		tracing.carriedOut({ ...batch, result: { error: 'unavailable' } });
		const beganMs = steadyMs();
		const result = { stages: { ...stages, beganMs, endedMs: beganMs }, replies: [undefined] };
		tracing.carriedOut({ ...batch, startedMs: startedMs + 2, endedMs: startedMs + 3, result });
		trace?.end({ error: 'unanswered' });
		trace?.end({ error: 'again' });
		const spans = exporter.getFinishedSpans();
		const waits = spans.filter(({ name }) => name === 'mailbox');
		assert.equal(waits.length, 2);
		assert.ok(Math.abs((waits[1]?.duration[1] ?? 0) / 1e6 - 1) < 0.01);
		assert.deepEqual(
			spans.filter(({ status }) => status.code === 2).map((span) => [nameOf(span), span.attributes['error.type']]),
			[
				['batch', 'unavailable'],
				['batch', 'held'],
				['HL7 v2 message', 'unanswered'],
			],
		);
	});
});

describe('the way to the collector', () => {
	function queue(export_: SpanExporter['export'], log = silentLog) {
		const exporter: SpanExporter = { export: export_, shutdown: () => Promise.resolve() };
		const metrics = createMetrics({ processMetrics: false });
		const limits = { ...defaultLimits, traceQueueSpansMax: 4, traceExportSpansMax: 2 };
		const waiting = new ExportQueue({ exporter, limits, metrics, log });
		const counted = async (outcome: string) =>
			Number(
				new RegExp(`^tributary_trace_spans_total{outcome="${outcome}"} (\\d+)$`, 'm').exec((await metrics.exposition('text')).body)?.[1],
			);
		return { waiting, counted };
	}
	const span = {} as ReadableSpan;

	test('one export is under way at a time; what has no room is dropped, and the end sends what waits', async () => {
		const answers: ((result: { code: number }) => void)[] = [];
		const sizes: number[] = [];
		const { waiting, counted } = queue((spans, answer) => {
			sizes.push(spans.length);
			answers.push(answer);
			if (sizes.length > 1) answer({ code: 0 });
		});
		for (let index = 0; index < 8; index++) waiting.onEnd(span);
		assert.deepEqual(sizes, [2]);
		assert.equal(await counted('dropped'), 2);
		const ended = waiting.shutdown();
		answers[0]?.({ code: 0 });
		await ended;
		assert.deepEqual(sizes, [2, 2, 2]);
		assert.deepEqual([await counted('exported'), await counted('dropped')], [6, 2]);
		waiting.onEnd(span);
		assert.equal(await counted('dropped'), 3);
	});

	test('an outage is told once', async () => {
		const lines: { msg: string; status?: number }[] = [];
		const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
		const { waiting, counted } = queue((_spans, answer) => answer({ code: 1, error: Object.assign(new Error('no'), { code: 503 }) }), log);
		for (let index = 0; index < 20; index++) {
			waiting.onEnd(span);
			await waiting.forceFlush();
		}
		assert.equal(await counted('dropped'), 20);
		assert.deepEqual(
			lines.map(({ msg, status }) => [msg, status]),
			[['traces are not exported', 503]],
		);
	});
});
