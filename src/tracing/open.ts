import type { Log } from '#core/log.ts';
import type { Place } from '#core/place.ts';
import type { Tracing } from '#record/tracing.ts';
import { type Config, nodeNameOf } from '../config.ts';
import type { TracingMetrics } from './metrics.ts';

export interface TracingOptions {
	metrics: TracingMetrics;
	log: Log;
	place: Place;
	version: string;
	onClose(close: () => Promise<void>): void;
}

/** Begins to trace, as the variables of OpenTelemetry say. Returns undefined where they name no collector. */
export async function openTracing(config: Config, { place, version, onClose, ...means }: TracingOptions): Promise<Tracing | undefined> {
	const url = collectorOf(config);
	if (url === undefined) return undefined;
	const { createTracing } = await import('./sdk.ts');
	const name = nodeNameOf(config);
	const { tracing, close } = createTracing({
		...means,
		url,
		version,
		limits: config.limits,
		headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
		sampler: config.OTEL_TRACES_SAMPLER,
		ratio: config.OTEL_TRACES_SAMPLER_ARG,
		resource: {
			'service.name': 'tributary',
			'service.version': version,
			'service.instance.id': place.count > 1 ? `${name}/${place.index}` : name,
			...config.OTEL_RESOURCE_ATTRIBUTES,
			...(config.OTEL_SERVICE_NAME === undefined ? {} : { 'service.name': config.OTEL_SERVICE_NAME }),
		},
	});
	onClose(close);
	means.log.info({ collector: new URL(url).origin, sampler: config.OTEL_TRACES_SAMPLER }, 'requests and messages are traced');
	return tracing;
}

/** Returns the URL to which traces are posted; the general one stands for all signals, each with its path below it. */
function collectorOf(config: Config): string | undefined {
	const { OTEL_TRACES_EXPORTER: exporter, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: all } = config;
	if (exporter === 'none') return undefined;
	return own ?? (all === undefined ? undefined : `${all.replace(/\/+$/, '')}/v1/traces`);
}
