import { randomBytes } from 'node:crypto';
import { type Attributes, type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { parseTraceParent, TraceState } from '@opentelemetry/core';
import { steadyMs } from '#core/timers.ts';
import type { BatchStages } from '#record/batch-stages.ts';
import type { Delivery, Reply } from '#record/delivery.ts';
import type { TraceIds } from '#record/trace-ids.ts';
import type { Trace, TracedBatch, TraceEnd, TraceStart, Tracing } from '#record/tracing.ts';
import { eventLabel } from './event-label.ts';

const kinds = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT };
const database: Attributes = { 'db.system.name': 'postgresql' };

/** An interval by performance.now() of this thread. */
type Interval = readonly [fromMs: number, toMs: number];

/** One sampled request or message: its span, and those of what its delivery waits for. */
class SpanTrace implements Trace {
	readonly ids: TraceIds;
	/** The time at which its delivery began to wait. */
	enqueuedMs = 0;
	readonly #tracer: Tracer;
	readonly #span: Span;
	readonly #context: Context;
	/** The time of the clock less performance.now(). All spans of the trace have the same, so a clock that is set does not disorder them. */
	readonly #originMs: number;

	constructor(tracer: Tracer, span: Span, parent: Context, originMs: number) {
		this.#tracer = tracer;
		this.#span = span;
		this.#context = trace.setSpan(parent, span);
		this.#originMs = originMs;
		const { traceId, spanId } = span.spanContext();
		this.ids = { trace_id: traceId, span_id: spanId };
	}

	end({ name, attributes, error }: TraceEnd): void {
		if (!this.#span.isRecording()) return;
		if (name !== undefined) this.#span.updateName(name);
		if (attributes) this.#span.setAttributes(attributes);
		if (error !== undefined) fail(this.#span, error);
		this.#span.end(this.#originMs + performance.now());
	}

	#child(name: string, fromMs: number, attributes: Attributes, context = this.#context): Span {
		const kind = attributes === database ? SpanKind.CLIENT : SpanKind.INTERNAL;
		return this.#tracer.startSpan(name, { kind, attributes, startTime: this.#originMs + fromMs }, context);
	}

	#whole(name: string, [fromMs, toMs]: Interval, attributes: Attributes, context?: Context): void {
		this.#child(name, fromMs, attributes, context).end(this.#originMs + toMs);
	}

	/** The delivery waited in its mailbox, then a batch took it along. */
	batch(delivery: Delivery, { startedMs, endedMs, result, deliveries }: TracedBatch, id: string, reply: Reply | undefined): void {
		this.#whole('mailbox', [Math.min(this.enqueuedMs, startedMs), startedMs], {});
		const attributes: Attributes = { 'tributary.batch.id': id, 'tributary.batch.messages': deliveries.length };
		const batch = this.#child('batch', startedMs, attributes);
		if ('stages' in result) {
			const { repeats, bisections } = result.stages;
			if (repeats > 0) batch.setAttribute('tributary.batch.repeats', repeats);
			if (bisections > 0) batch.setAttribute('tributary.batch.bisections', bisections);
			this.#stages(result.stages, [startedMs, endedMs], trace.setSpan(this.#context, batch));
		}
		const error = 'error' in result ? result.error : reply === undefined ? 'held' : undefined;
		if (error !== undefined) fail(batch, error);
		if (reply !== undefined) {
			const outcome = { 'tributary.event': eventLabel(delivery, reply), 'tributary.outcome': reply.outcome };
			for (const span of [batch, this.#span]) {
				span.setAttributes(outcome);
				if (reply.outcome === 'refused') fail(span, reply.failure?.code ?? 'refused');
			}
		}
		batch.end(this.#originMs + endedMs);
		// A delivery that was not carried out waits again.
		this.enqueuedMs = endedMs;
	}

	/**
	 * The worker measures how long each stage took in all. What comes before the writes is laid out from the beginning, writes and COMMIT from the
	 * end, so a gap between them is what was spent on further attempts.
	 */
	#stages(stages: BatchStages, [startedMs, endedMs]: Interval, context: Context): void {
		const within = (ms: number) => Math.min(endedMs, Math.max(startedMs, ms));
		let at = within(stages.beganMs - offsetMs);
		this.#whole('dispatch', [startedMs, at], {}, context);
		const next = (name: string, ms: number, attributes: Attributes) => {
			const to = within(at + ms);
			this.#whole(name, [at, to], attributes, context);
			at = to;
		};
		next('interpret', stages.interpretMs, {});
		next('read', stages.readMs, database);
		next('apply', stages.applyMs, {});
		if (stages.commitMs === 0) return;
		const committed = within(stages.endedMs - offsetMs);
		at = Math.max(at, within(committed - stages.writeMs));
		next('write', Math.max(0, committed - at - stages.commitMs), database);
		next('commit', committed - at, database);
	}
}

/** The clock that all threads share, less performance.now() of this one. */
const offsetMs = steadyMs() - performance.now();

function fail(span: Span, error: string): void {
	span.setAttribute('error.type', error);
	span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns the context of a caller; that of none where the header is missing or invalid (W3C Trace Context §4.3). */
function contextOf({ traceparent, tracestate }: TraceStart): Context {
	const parent = traceparent === undefined ? null : parseTraceParent(traceparent);
	if (parent === null) return ROOT_CONTEXT;
	const state = tracestate === undefined ? {} : { traceState: new TraceState(tracestate) };
	return trace.setSpanContext(ROOT_CONTEXT, { ...parent, ...state, isRemote: true });
}

/** Makes spans of the times that the product takes in any case. */
export class SpanTracing implements Tracing {
	readonly #tracer: Tracer;
	/** The keys are the ids that deliveries carry. */
	readonly #traces = new WeakMap<TraceIds, SpanTrace>();

	constructor(tracer: Tracer) {
		this.#tracer = tracer;
	}

	begin(start: TraceStart): Trace | undefined {
		const { name, kind, surface, startedMs, attributes } = start;
		const context = contextOf(start);
		const originMs = Date.now() - performance.now();
		const span = this.#tracer.startSpan(
			name,
			{ kind: kinds[kind], startTime: originMs + startedMs, attributes: { 'tributary.surface': surface, ...attributes } },
			context,
		);
		if (!span.isRecording()) return undefined;
		const begun = new SpanTrace(this.#tracer, span, context, originMs);
		this.#traces.set(begun.ids, begun);
		return begun;
	}

	enqueued({ trace: ids }: Delivery): void {
		const begun = ids && this.#traces.get(ids);
		if (begun) begun.enqueuedMs = performance.now();
	}

	carriedOut(batch: TracedBatch): void {
		let id: string | undefined;
		const replies = 'replies' in batch.result ? batch.result.replies : [];
		for (const [index, delivery] of batch.deliveries.entries()) {
			const begun = delivery.trace && this.#traces.get(delivery.trace);
			if (begun === undefined) continue;
			id ??= randomBytes(8).toString('hex');
			begun.batch(delivery, batch, id, replies[index]);
		}
	}
}
