import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Metrics of refused callers, of the age of the directory, and of the audit trail. */
export const accessMetricDefinitions = {
	accessSnapshotAge: {
		name: 'tributary_access_snapshot_age_seconds',
		kind: 'gauge',
		help: 'Time since keys and integration clients were last known to be current.',
		across: 'max',
		labels: {},
	},
	keysExpiring: {
		name: 'tributary_api_keys_expiring',
		kind: 'gauge',
		help: 'API keys that soon expire and have not been rotated.',
		across: 'max',
		labels: {},
	},
	accessRefusals: {
		name: 'tributary_access_refusals_total',
		kind: 'counter',
		help: 'Refused callers.',
		labels: {
			protocol: ['hl7-mllp', 'http', 'dicom'],
			reason: ['address', 'sender', 'tie', 'key', 'scope', 'token', 'proxy', 'certificate', 'called', 'calling'],
		},
	},
	auditEvents: {
		name: 'tributary_audit_events_total',
		kind: 'counter',
		help: 'Events of the audit trail that were gathered in memory, by what became of them.',
		labels: { outcome: ['written', 'lost'] },
	},
	auditWaiting: {
		name: 'tributary_audit_waiting_events',
		kind: 'gauge',
		help: 'Events that wait in memory for the audit trail.',
		labels: {},
	},
} as const satisfies MetricDefinitions;

export type AccessMetrics = MetricsOf<typeof accessMetricDefinitions>;
