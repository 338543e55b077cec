import type { MetricDefinition } from './metric-definition.ts';

/** FHIR R4, diagnostic-report-status. */
const statuses = [
	'registered',
	'partial',
	'preliminary',
	'final',
	'amended',
	'corrected',
	'appended',
	'cancelled',
	'entered-in-error',
	'unknown',
] as const;
export type ReportStatusLabel = (typeof statuses)[number];

export function reportStatusLabel(status: string): ReportStatusLabel {
	return statuses.find((known) => known === status) ?? 'unknown';
}

/** The rows of reports (DiagnosticReport) in the table of metrics. */
export const reportMetricDefinitions = {
	reportVersions: {
		name: 'tributary_report_versions_total',
		kind: 'counter',
		help: 'Versions of reports (DiagnosticReport) that messages and new studies wrote, by status.',
		labels: { status: statuses },
	},
} as const satisfies Record<string, MetricDefinition>;
