import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
	AlwaysOffSampler,
	AlwaysOnSampler,
	ParentBasedSampler,
	type Sampler,
	TraceIdRatioBasedSampler,
	TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Tracing } from '#record/tracing.ts';
import type { Config } from '../config.ts';
import { ExportQueue, type ExportQueueOptions } from './export-queue.ts';
import { SpanTracing } from './tracer.ts';

type SamplerName = Config['OTEL_TRACES_SAMPLER'];

const samplers: Readonly<Record<SamplerName, (ratio: number) => Sampler>> = {
	always_on: () => new AlwaysOnSampler(),
	always_off: () => new AlwaysOffSampler(),
	traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
	parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
	parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
	parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
};

export interface SdkOptions extends Omit<ExportQueueOptions, 'exporter'> {
	/** The whole URL to which traces are posted. */
	url: string;
	headers: Record<string, string>;
	sampler: SamplerName;
	ratio: number;
	resource: Record<string, string>;
	version: string;
}

/** Makes the tracing of this process. Only this file and what it imports know the SDK, so a node without traces never loads it. */
export function createTracing({ url, headers, sampler, ratio, resource, version, ...queued }: SdkOptions): {
	tracing: Tracing;
	close(): Promise<void>;
} {
	const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: queued.limits.traceExportMsMax, concurrencyLimit: 1 });
	const provider = new TracerProvider({
		resource: resourceFromAttributes(resource),
		sampler: samplers[sampler](ratio),
		spanProcessors: [new ExportQueue({ ...queued, exporter })],
	});
	return { tracing: new SpanTracing(provider.getTracer('tributary', version)), close: () => provider.shutdown() };
}
