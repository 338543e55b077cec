import type { MetricDefinitions } from '#core/metric-definition.ts';

/** Metrics of the audit trail on its way to a receiver of syslog. */
export const syslogMetricDefinitions = {
	auditForwarded: {
		name: 'tributary_audit_forwarded_total',
		kind: 'counter',
		help: 'Events of the audit trail that were sent to AUDIT_SYSLOG_URL.',
		labels: {},
	},
	auditForwardLag: {
		name: 'tributary_audit_forward_lag_seconds',
		kind: 'gauge',
		help: 'Age of the oldest batch of the audit trail that was not sent yet; 0 when all were.',
		across: 'max',
		labels: {},
	},
} as const satisfies MetricDefinitions;
