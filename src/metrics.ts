import { collectDefaultMetrics, Registry } from 'prom-client';
import { accessMetricDefinitions } from '#access/metrics.ts';
import { bulkMetricDefinitions } from '#bulk/metrics.ts';
import { type Exposition, expositionOf } from '#core/exposition.ts';
import { handlesOn, type MetricDefinition, type MetricDefinitions, type MetricsOf } from '#core/metric-definition.ts';
import { imagingMetricDefinitions } from '#imaging/metrics.ts';
import { deliveryMetricDefinitions } from '#record/metrics.ts';
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
	...adminMetricDefinitions,
	...httpMetricDefinitions,
	...siteMetricDefinitions,
	...storageMetricDefinitions,
	...bulkMetricDefinitions,
	...accessMetricDefinitions,
} as const satisfies MetricDefinitions;

export type MetricName = keyof typeof metricDefinitions;
export type Metrics = MetricsOf<typeof metricDefinitions> & Exposition;

/** Handles on a registry of their own. `processMetrics: false` leaves out Node's process and event loop metrics (tests). */
export function createMetrics(options: { version?: string; processMetrics?: boolean } = {}): Metrics {
	const registry = new Registry();
	const handles = handlesOn(registry, metricDefinitions);
	if (options.processMetrics !== false) collectDefaultMetrics({ register: registry });
	const across = new Map(
		Object.values<MetricDefinition>(metricDefinitions).map((definition) => [definition.name, definition.across ?? 'sum']),
	);
	handles.buildInfo.set({ version: options.version ?? 'unknown', node: process.version }, 1);
	return Object.freeze({ ...handles, ...expositionOf(registry, (name) => across.get(name) ?? 'process') });
}
