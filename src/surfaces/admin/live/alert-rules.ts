import { durationMs, type Expression, parseExpression } from './expression.ts';

/** An alert of ops/prometheus/rules.yml that a node can judge of itself. */
export interface AlertRule {
	name: string;
	severity: 'critical' | 'warning' | 'info';
	/** For so long the expression has to hold. */
	forMs: number;
	/** As the rules have it; `text` parsed. */
	text: string;
	expression: Expression;
	/** With `{{ $labels.site }}` where a label stands. */
	summary: string;
}

function rule(name: string, severity: AlertRule['severity'], duration: string, text: string, summary: string): AlertRule {
	return { name, severity, forMs: durationMs(duration), text, expression: parseExpression(text), summary };
}

/**
 * The alerts with the thresholds of ops/prometheus/rules.yml, which a test holds against them. Not here: that the node is down, which it
 * cannot tell, and that a site is silent, which takes more than the hour that is remembered.
 */
export const alertRules: readonly AlertRule[] = [
	rule('TributaryDatabaseDown', 'critical', '30s', 'tributary_database_up == 0', '{{ $labels.instance }} has no database'),
	rule(
		'TributaryShardDown',
		'critical',
		'1m',
		'tributary_shard_available == 0',
		'shard {{ $labels.shard }} of {{ $labels.instance }} takes no batches',
	),
	rule(
		'TributaryWorkerRestarts',
		'warning',
		'0m',
		'increase(tributary_worker_restarts_total[15m]) > 3',
		'workers of {{ $labels.instance }} keep ending',
	),
	rule(
		'TributaryEventLoopLag',
		'warning',
		'5m',
		'nodejs_eventloop_lag_p99_seconds{job="tributary"} > 0.5',
		'the main thread of {{ $labels.instance }} is busy',
	),
	rule(
		'TributaryAccessSnapshotStale',
		'critical',
		'30s',
		'tributary_access_snapshot_age_seconds > 10',
		'{{ $labels.instance }} may not know of revoked keys',
	),
	rule(
		'TributarySendersDropped',
		'critical',
		'0m',
		'sum by (instance) (increase(tributary_mllp_connection_ends_total{reason="unavailable"}[5m])) > 0',
		'{{ $labels.instance }} closed connections without an answer',
	),
	rule(
		'TributaryAcknowledgementSlow',
		'warning',
		'10m',
		'histogram_quantile(0.99, sum by (le, instance, surface) (rate(tributary_hl7_acknowledgement_seconds_bucket[5m]))) > 2',
		'acknowledgements of {{ $labels.surface }} on {{ $labels.instance }} are slow',
	),
	rule(
		'TributaryRefusalsHigh',
		'warning',
		'15m',
		'sum by (site) (rate(tributary_site_messages_total{outcome="refused"}[15m])) / sum by (site) (rate(tributary_site_messages_total[15m])) > 0.2',
		'site {{ $labels.site }} has many refused messages',
	),
	rule(
		'TributaryMailboxBacklog',
		'warning',
		'0m',
		'min_over_time(tributary_mailbox_messages[10m]) > 500',
		'messages wait on {{ $labels.instance }}',
	),
	rule(
		'TributaryMailboxFull',
		'warning',
		'0m',
		'increase(tributary_mailbox_full_total[10m]) > 0',
		'a mailbox of {{ $labels.instance }} is full',
	),
	rule(
		'TributaryBatchRetries',
		'warning',
		'10m',
		'sum by (instance, reason) (rate(tributary_ingest_batch_retries_total[10m])) > 0.1',
		'batches of {{ $labels.instance }} are tried again: {{ $labels.reason }}',
	),
	rule(
		'TributaryUnmatchedMessages',
		'warning',
		'0m',
		'sum by (instance, reason) (increase(tributary_unmatched_messages_total[15m])) > 0',
		'messages for no site on {{ $labels.instance }}: {{ $labels.reason }}',
	),
	rule(
		'TributaryUnmatchedDropped',
		'warning',
		'0m',
		'increase(tributary_unmatched_messages_total{result="dropped"}[15m]) > 0',
		'unmatched messages of {{ $labels.instance }} are not logged',
	),
	rule(
		'TributaryConnectionsRefused',
		'warning',
		'10m',
		'sum by (instance, result) (rate(tributary_mllp_connections_total{result=~"refused-.*"}[10m])) > 0.1',
		'connections to {{ $labels.instance }} are refused: {{ $labels.result }}',
	),
	rule(
		'TributaryFrameErrors',
		'warning',
		'0m',
		'sum by (instance, reason) (increase(tributary_mllp_frame_errors_total[15m])) > 10',
		'broken MLLP frames on {{ $labels.instance }}: {{ $labels.reason }}',
	),
	rule(
		'TributaryKeysRefused',
		'warning',
		'10m',
		'sum by (instance) (rate(tributary_access_refusals_total{protocol="http", reason="key"}[10m])) > 1',
		'{{ $labels.instance }} refuses API keys',
	),
	rule(
		'TributaryHttpErrors',
		'warning',
		'5m',
		'sum by (instance, surface) (rate(tributary_http_requests_total{status="5xx", surface!="operations"}[5m])) / sum by (instance, surface) (rate(tributary_http_requests_total{surface!="operations"}[5m])) > 0.05',
		'{{ $labels.surface }} on {{ $labels.instance }} answers 5xx',
	),
	rule('TributaryReadFailures', 'warning', '5m', 'rate(tributary_read_failures_total[5m]) > 0.1', 'reads of {{ $labels.instance }} fail'),
	rule(
		'TributaryBulkFailed',
		'info',
		'1m',
		'increase(tributary_bulk_jobs_total{outcome="failed"}[1h]) > 0',
		'an {{ $labels.kind }} failed on {{ $labels.instance }}',
	),
	rule(
		'TributaryInstancesRefused',
		'warning',
		'10m',
		'rate(tributary_dimse_messages_total{operation="C-STORE", outcome="failure"}[5m]) > 0',
		'{{ $labels.instance }} refuses instances',
	),
	rule(
		'TributaryConflictsOpen',
		'info',
		'24h',
		'max by (site) (tributary_imaging_conflicts_open) > 0',
		'conflicts of {{ $labels.site }} wait for a decision',
	),
	rule(
		'TributaryAssociationsRejected',
		'warning',
		'5m',
		'sum by (instance, result) (rate(tributary_dimse_association_requests_total{result!="accepted"}[5m])) > 0.1',
		'associations on {{ $labels.instance }} are {{ $labels.result }}',
	),
	rule(
		'TributaryCommitmentGivenUp',
		'warning',
		'1m',
		'increase(tributary_commitment_reports_total{outcome="given-up"}[1h]) > 0',
		'{{ $labels.instance }} gave up a commitment report',
	),
	rule(
		'TributaryInstancesDamaged',
		'critical',
		'1m',
		'increase(tributary_commitment_instances_total{outcome="damaged"}[1h]) > 0',
		'{{ $labels.instance }} finds instances in the index that are not whole in the object store',
	),
];
