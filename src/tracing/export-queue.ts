import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Log } from '#core/log.ts';
import { RepeatedTrouble } from '#core/repeated.ts';
import type { TracingLimits } from './limits.ts';
import type { TracingMetrics } from './metrics.ts';

export interface ExportQueueOptions {
	exporter: SpanExporter;
	limits: TracingLimits;
	metrics: TracingMetrics;
	log: Log;
}

/** A part of closing. What the collector has not taken by then is dropped. */
const closeMs = 2000;
/** `ExportResultCode.SUCCESS`. */
const exported = 0;

/**
 * Spans wait here for the collector, in memory and bounded. One export is under way at a time, and nobody else waits for it: while the collector
 * hangs or is away, spans are dropped and counted.
 */
export class ExportQueue implements SpanProcessor {
	readonly #options: ExportQueueOptions;
	readonly #trouble: RepeatedTrouble;
	#waiting: ReadableSpan[] = [];
	#exporting: Promise<void> | undefined;
	#timer: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(options: ExportQueueOptions) {
		this.#options = options;
		this.#trouble = new RepeatedTrouble(options.log, 'traces are not exported');
	}

	onStart(): void {}

	onEnd(span: ReadableSpan): void {
		if (this.#isClosed || this.#waiting.length >= this.#options.limits.traceQueueSpansMax) {
			this.#drop(1);
			return;
		}
		this.#waiting.push(span);
		this.#tell();
		if (this.#exporting === undefined) this.#goOn();
	}

	/** Exports what fills an export, and all that waits when the queue closes; fewer spans wait for more. */
	#goOn(): void {
		const { traceExportSpansMax, traceExportWaitMsMax } = this.#options.limits;
		if (this.#isClosed || this.#waiting.length >= traceExportSpansMax) this.#export();
		else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#export(), traceExportWaitMsMax).unref();
	}

	#drop(spans: number): void {
		this.#options.metrics.traceSpans.inc({ outcome: 'dropped' }, spans);
	}

	#tell(): void {
		this.#options.metrics.traceQueueSpans.set(this.#waiting.length);
	}

	#export(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const spans = this.#waiting.splice(0, this.#options.limits.traceExportSpansMax);
		this.#tell();
		if (spans.length === 0) return;
		this.#exporting = this.#sent(spans).then(() => {
			this.#exporting = undefined;
			this.#goOn();
		});
	}

	/** Never rejects. */
	async #sent(spans: ReadableSpan[]): Promise<void> {
		const { exporter, metrics } = this.#options;
		const error = await new Promise<unknown>((resolve) => {
			try {
				exporter.export(spans, (result) => resolve(result.code === exported ? undefined : (result.error ?? new Error('refused'))));
			} catch (thrown) {
				resolve(thrown);
			}
		});
		if (error === undefined) {
			metrics.traceSpans.inc({ outcome: 'exported' }, spans.length);
			this.#trouble.over();
			return;
		}
		this.#drop(spans.length);
		// The collector answers with an HTTP status, which the error of the exporter has as its code.
		const { code } = error as { code?: unknown };
		this.#trouble.happened(error, typeof code === 'number' ? { status: code } : {});
	}

	async forceFlush(): Promise<void> {
		if (this.#exporting === undefined) this.#export();
		while (this.#exporting !== undefined) await this.#exporting;
	}

	/** Exports what waits, for a while. */
	async shutdown(): Promise<void> {
		this.#isClosed = true;
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, closeMs);
		});
		await Promise.race([this.forceFlush(), late]);
		clearTimeout(timer);
		this.#drop(this.#waiting.splice(0).length);
		this.#tell();
		void this.#options.exporter.shutdown().catch(() => undefined);
	}
}
