import { type FailureCode, failureCodes } from '#core/failure.ts';
import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';
import { outcomes } from '#record/metrics.ts';

/** Requests that write. */
export const fhirMetricDefinitions = {
	fhirWrites: {
		name: 'tributary_fhir_writes_total',
		kind: 'counter',
		help: 'FHIR write requests, by resource type and outcome.',
		labels: { type: { boundedBy: 'the resource types that are served, and Bundle' }, outcome: outcomes },
	},
	fhirRefusals: {
		name: 'tributary_fhir_refusals_total',
		kind: 'counter',
		help: 'FHIR write requests that were refused, by failure code.',
		labels: { code: Object.keys(failureCodes) as FailureCode[] },
	},
} as const satisfies MetricDefinitions;

export type FhirMetrics = MetricsOf<typeof fhirMetricDefinitions>;
