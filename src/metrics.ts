import { Registry } from 'prom-client';
import { accessMetricDefinitions } from '#access/metrics.ts';
import { alertMetricDefinitions } from '#alerts/metrics.ts';
import { bulkMetricDefinitions } from '#bulk/metrics.ts';
import { type Beginning, type Exposition, expositionOf } from '#core/exposition.ts';
import { beginCounters, handlesOn, type MetricDefinition, type MetricDefinitions, type MetricsOf } from '#core/metric-definition.ts';
import { addProcessMetrics } from '#core/process-metrics.ts';
import { imagingMetricDefinitions } from '#imaging/metrics.ts';
import { deliveryMetricDefinitions } from '#record/metrics.ts';
import { renderingMetricDefinitions } from '#rendering/metrics.ts';
import { retentionMetricDefinitions } from '#retention/metrics.ts';
import { siteMetricDefinitions } from '#site/metrics.ts';
import { storageMetricDefinitions } from '#storage/metrics.ts';
import { adminMetricDefinitions } from '#surfaces/admin/metrics.ts';
import { dicomWebMetricDefinitions } from '#surfaces/dicomweb/metrics.ts';
import { dimseMetricDefinitions } from '#surfaces/dimse/metrics.ts';
import { fhirMetricDefinitions } from '#surfaces/fhir/metrics.ts';
import { httpMetricDefinitions } from '#surfaces/http/metrics.ts';
import { mllpMetricDefinitions } from '#surfaces/mllp/metrics.ts';
import { mppsMetricDefinitions } from '#surfaces/mpps/metrics.ts';
import { processMetricDefinitions } from '#surfaces/operations/metrics.ts';
import { syslogMetricDefinitions } from '#surfaces/syslog/metrics.ts';
import { tracingMetricDefinitions } from '#tracing/metrics.ts';

/**
 * Every metric of the product, from the rooms that declare them. No histogram carries a site label: sites × buckets × routes would
 * outgrow the service itself. `docs/operations.md` explains them; dashboards and rules in `ops/` are held against this table.
 */
export const metricDefinitions = {
	...processMetricDefinitions,
	...deliveryMetricDefinitions,
	...fhirMetricDefinitions,
	...mppsMetricDefinitions,
	...mllpMetricDefinitions,
	...dimseMetricDefinitions,
	...imagingMetricDefinitions,
	...dicomWebMetricDefinitions,
	...renderingMetricDefinitions,
	...adminMetricDefinitions,
	...httpMetricDefinitions,
	...siteMetricDefinitions,
	...storageMetricDefinitions,
	...retentionMetricDefinitions,
	...bulkMetricDefinitions,
	...accessMetricDefinitions,
	...syslogMetricDefinitions,
	...alertMetricDefinitions,
	...tracingMetricDefinitions,
} as const satisfies MetricDefinitions;

export type MetricName = keyof typeof metricDefinitions;
export type Metrics = MetricsOf<typeof metricDefinitions> & Exposition & Beginning;

/** Handles on a registry of their own. `processMetrics: false` leaves out Node's process and event loop metrics (tests). */
export function createMetrics(options: { version?: string; processMetrics?: boolean } = {}): Metrics {
	const registry = new Registry();
	const handles = handlesOn(registry, metricDefinitions);
	if (options.processMetrics !== false) addProcessMetrics(registry);
	const across = new Map(
		Object.values<MetricDefinition>(metricDefinitions).map((definition) => [definition.name, definition.across ?? 'sum']),
	);
	handles.buildInfo.set({ version: options.version ?? 'unknown', node: process.version }, 1);
	const begun = new Set<string>();
	const begin = (labels: Readonly<Record<string, string>>) => {
		const key = JSON.stringify(labels);
		if (begun.has(key)) return;
		begun.add(key);
		beginCounters(registry, metricDefinitions, labels);
	};
	return Object.freeze({ ...handles, begin, ...expositionOf(registry, (name) => across.get(name) ?? 'process') });
}
