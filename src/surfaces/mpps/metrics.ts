import { type FailureCode, failureCodes } from '#core/failure.ts';
import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

const surfaces = ['mpps', 'dimse'] as const;
const types = ['IN PROGRESS', 'COMPLETED', 'DISCONTINUED', 'N-CREATE', 'N-SET', 'other'] as const;
export type MppsTypeLabel = (typeof types)[number];

/** `MPPS COMPLETED` as a label value. */
export function mppsTypeLabel(messageType: string): MppsTypeLabel {
	return types.find((type) => messageType === `MPPS ${type}`) ?? 'other';
}

/** Reports about procedure steps, over HTTP and DIMSE. */
export const mppsMetricDefinitions = {
	mppsReports: {
		name: 'tributary_mpps_reports_total',
		kind: 'counter',
		help: 'Answered procedure step reports, over HTTP by status and over DIMSE by service.',
		labels: { surface: surfaces, type: types, outcome: ['accepted', 'refused', 'ignored', 'duplicate'] },
	},
	mppsRefusals: {
		name: 'tributary_mpps_refusals_total',
		kind: 'counter',
		help: 'Refused procedure step reports, by failure code.',
		labels: { surface: surfaces, code: Object.keys(failureCodes) as FailureCode[] },
	},
} as const satisfies MetricDefinitions;

export type MppsMetrics = MetricsOf<typeof mppsMetricDefinitions>;
