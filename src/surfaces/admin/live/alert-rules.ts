import { durationMs, type Expression, parseExpression } from './expression.ts';

/** An alert in the form that Prometheus uses. */
interface Rule {
	name: string;
	severity: 'critical' | 'warning' | 'info';
	/** The expression must hold this long before the alert fires. */
	for: `${number}${'s' | 'm' | 'h'}`;
	/** A PromQL expression. Rules that a node judges use only the part that `expression.ts` understands. */
	text: string;
	/** The summary, with `{{ $labels.site }}` in place of a label. */
	summary: string;
	/** Explains the alert to the people who run the node. */
	description: string;
	/** Only Prometheus can judge this rule: a node cannot tell that it is down, and it remembers no more than an hour. */
	beyondNode?: true;
}

/**
 * Every alert. `npm run generate:alerts` writes ops/prometheus/rules.yml from this table; a node judges by the same rows what the console
 * shows. docs/operations.md explains each.
 */
export const ruleGroups: readonly { name: string; rules: readonly Rule[] }[] = [
	{
		name: 'tributary-nodes',
		rules: [
			{
				name: 'TributaryDown',
				severity: 'critical',
				for: '1m',
				text: 'up{job="tributary"} == 0',
				summary: '{{ $labels.instance }} does not answer',
				description: 'The operations surface of the node cannot be scraped.',
				beyondNode: true,
			},
			{
				name: 'TributaryDatabaseDown',
				severity: 'critical',
				for: '30s',
				text: 'tributary_database_up == 0',
				summary: '{{ $labels.instance }} has no database',
				description: 'No message is acknowledged. MLLP reading pauses, connections close after UNAVAILABLE_MS_MAX, and HTTP answers 503.',
			},
			{
				name: 'TributaryShardDown',
				severity: 'critical',
				for: '1m',
				text: 'tributary_shard_available == 0',
				summary: 'shard {{ $labels.shard }} of {{ $labels.instance }} processes no batches',
				description: 'Messages of the sites in this shard wait.',
			},
			{
				name: 'TributaryWorkerRestarts',
				severity: 'warning',
				for: '0m',
				text: 'increase(tributary_worker_restarts_total[15m]) > 3',
				summary: 'workers of {{ $labels.instance }} keep ending',
				description: 'A message may be ending the worker; the log names its id.',
			},
			{
				name: 'TributaryEventLoopLag',
				severity: 'warning',
				for: '5m',
				text: 'nodejs_eventloop_lag_p99_seconds{job="tributary"} > 0.5',
				summary: 'the main thread of {{ $labels.instance }} is busy',
				description: 'Every connection has to wait.',
			},
			{
				name: 'TributaryAccessSnapshotStale',
				severity: 'critical',
				for: '30s',
				text: 'tributary_access_snapshot_age_seconds > 10',
				summary: '{{ $labels.instance }} may still accept revoked keys',
				description: 'Keys and integration clients have not been refreshed. Normally a change takes effect within one second.',
			},
		],
	},
	{
		name: 'tributary-messages',
		rules: [
			{
				name: 'TributarySendersDropped',
				severity: 'critical',
				for: '0m',
				text: 'sum by (instance) (increase(tributary_mllp_connection_ends_total{reason="unavailable"}[5m])) > 0',
				summary: '{{ $labels.instance }} closed connections without an answer',
				description: 'Messages could not be stored for UNAVAILABLE_MS_MAX. Their senders keep them and send them again.',
			},
			{
				name: 'TributaryAcknowledgementSlow',
				severity: 'warning',
				for: '10m',
				text: 'histogram_quantile(0.99, sum by (le, instance, surface) (rate(tributary_hl7_acknowledgement_seconds_bucket[5m]))) > 2',
				summary: 'acknowledgements of {{ $labels.surface }} on {{ $labels.instance }} are slow',
				description: 'The 99th percentile is above two seconds.',
			},
			{
				name: 'TributaryRefusalsHigh',
				severity: 'warning',
				for: '15m',
				text: 'sum by (site) (rate(tributary_site_messages_total{outcome="refused"}[15m])) / sum by (site) (rate(tributary_site_messages_total[15m])) > 0.2',
				summary: 'many messages of site {{ $labels.site }} are refused',
				description: 'More than one message in five is answered AE. The message log has the reasons.',
			},
			{
				name: 'TributarySiteSilent',
				severity: 'info',
				for: '15m',
				text: 'sum by (site) (increase(tributary_site_messages_total[2h])) == 0 and sum by (site) (increase(tributary_site_messages_total[1d] offset 2h)) > 100',
				summary: 'site {{ $labels.site }} sends nothing',
				description: 'It has sent nothing for two hours, but more than a hundred messages in the day before.',
				beyondNode: true,
			},
			{
				name: 'TributaryMailboxBacklog',
				severity: 'warning',
				for: '0m',
				text: 'min_over_time(tributary_mailbox_messages[10m]) > 500',
				summary: 'messages wait on {{ $labels.instance }}',
				description: 'Messages arrive faster than the database can store them.',
			},
			{
				name: 'TributaryMailboxFull',
				severity: 'warning',
				for: '0m',
				text: 'increase(tributary_mailbox_full_total[10m]) > 0',
				summary: 'a mailbox of {{ $labels.instance }} is full',
				description: 'Senders have to pause or get 503.',
			},
			{
				name: 'TributaryBatchRetries',
				severity: 'warning',
				for: '10m',
				text: 'sum by (instance, reason) (rate(tributary_ingest_batch_retries_total[10m])) > 0.1',
				summary: 'batches of {{ $labels.instance }} are retried: {{ $labels.reason }}',
				description: 'Transactions fail and are repeated.',
			},
		],
	},
	{
		name: 'tributary-senders',
		rules: [
			{
				name: 'TributaryUnmatchedMessages',
				severity: 'warning',
				for: '0m',
				text: 'sum by (instance, reason) (increase(tributary_unmatched_messages_total[15m])) > 0',
				summary: 'no matching site for messages on {{ $labels.instance }}: {{ $labels.reason }}',
				description: 'MSH-3 and MSH-4 match no integration client with the address, or clients of two sites.',
			},
			{
				name: 'TributaryUnmatchedDropped',
				severity: 'warning',
				for: '0m',
				text: 'increase(tributary_unmatched_messages_total{result="dropped"}[15m]) > 0',
				summary: 'unmatched messages of {{ $labels.instance }} are not logged',
				description: 'They exceed UNMATCHED_MESSAGES_MAX or UNMATCHED_BYTES_MAX, or the database refused them.',
			},
			{
				name: 'TributaryConnectionsRefused',
				severity: 'warning',
				for: '10m',
				text: 'sum by (instance, result) (rate(tributary_mllp_connections_total{result=~"refused-.*"}[10m])) > 0.1',
				summary: 'connections to {{ $labels.instance }} are refused: {{ $labels.result }}',
				description: 'No client lists the address, a certificate or PROXY header is missing, or the connection limit is reached.',
			},
			{
				name: 'TributaryFrameErrors',
				severity: 'warning',
				for: '0m',
				text: 'sum by (instance, reason) (increase(tributary_mllp_frame_errors_total[15m])) > 10',
				summary: 'broken MLLP frames on {{ $labels.instance }}: {{ $labels.reason }}',
				description: 'A sender breaks off, or sends frames longer than MLLP_FRAME_BYTES_MAX.',
			},
			{
				name: 'TributaryKeysRefused',
				severity: 'warning',
				for: '10m',
				text: 'sum by (instance) (rate(tributary_access_refusals_total{protocol="http", reason=~"key|token"}[10m])) > 1',
				summary: '{{ $labels.instance }} refuses API keys or access tokens',
				description: 'A revoked key or a token of an unknown issuer is still in use, or somebody is guessing keys.',
			},
		],
	},
	{
		name: 'tributary-requests',
		rules: [
			{
				name: 'TributaryHttpErrors',
				severity: 'warning',
				for: '5m',
				text: 'sum by (instance, surface) (rate(tributary_http_requests_total{status="5xx", surface!="operations"}[5m])) / sum by (instance, surface) (rate(tributary_http_requests_total{surface!="operations"}[5m])) > 0.05',
				summary: '{{ $labels.surface }} on {{ $labels.instance }} answers 5xx',
				description: 'More than one request in twenty fails.',
			},
			{
				name: 'TributaryReadFailures',
				severity: 'warning',
				for: '5m',
				text: 'rate(tributary_read_failures_total[5m]) > 0.1',
				summary: 'reads on {{ $labels.instance }} fail',
				description: 'The database refuses or does not answer reads and searches.',
			},
			{
				name: 'TributaryBulkFailed',
				severity: 'info',
				for: '1m',
				text: 'increase(tributary_bulk_jobs_total{outcome="failed"}[1h]) > 0',
				summary: 'an {{ $labels.kind }} failed on {{ $labels.instance }}',
				description: 'The status of the job says why.',
			},
			{
				name: 'TributaryInstancesRefused',
				severity: 'warning',
				for: '10m',
				text: 'rate(tributary_dimse_messages_total{operation="C-STORE", outcome="failure"}[5m]) > 0',
				summary: '{{ $labels.instance }} refuses instances',
				description: 'Instances from modalities are not stored.',
			},
			{
				name: 'TributaryConflictsOpen',
				severity: 'info',
				for: '24h',
				text: 'max by (site) (tributary_imaging_conflicts_open) > 0',
				summary: 'conflicts of {{ $labels.site }} wait for a decision',
				description: 'Instances arrived with different content under SOP Instance UIDs that are already stored.',
			},
			{
				name: 'TributaryAssociationsRejected',
				severity: 'warning',
				for: '5m',
				text: 'sum by (instance, result) (rate(tributary_dimse_association_requests_total{result!="accepted"}[5m])) > 0.1',
				summary: 'associations on {{ $labels.instance }} are {{ $labels.result }}',
				description: 'The AE title is wrong, no client lists the address, or the association limit is reached.',
			},
			{
				name: 'TributaryCommitmentGivenUp',
				severity: 'warning',
				for: '1m',
				text: 'increase(tributary_commitment_reports_total{outcome="given-up"}[1h]) > 0',
				summary: '{{ $labels.instance }} gave up a commitment report',
				description: 'The modality does not receive the report and keeps its instances.',
			},
			{
				name: 'TributaryInstancesDamaged',
				severity: 'critical',
				for: '1m',
				text: 'increase(tributary_commitment_instances_total{outcome="damaged"}[1h]) > 0',
				summary: '{{ $labels.instance }} found indexed instances that are damaged in the object store',
				description: 'Their storage commitment is refused. The modality still has them.',
			},
			{
				name: 'TributarySegmentDamaged',
				severity: 'critical',
				for: '1m',
				text: 'increase(tributary_object_segment_compactions_total{outcome="damaged"}[1h]) > 0',
				summary: '{{ $labels.instance }} found damaged objects in a segment of the object store',
				description: 'The segment is kept as it is. A backup or the modality may still have the objects.',
			},
		],
	},
];

/** An alert that a node judges itself. */
export interface AlertRule extends Pick<Rule, 'name' | 'severity' | 'summary'> {
	forMs: number;
	expression: Expression;
}

export const alertRules: readonly AlertRule[] = ruleGroups
	.flatMap(({ rules }) => rules)
	.filter(({ beyondNode }) => beyondNode !== true)
	.map(({ name, severity, summary, for: duration, text }) => ({
		name,
		severity,
		summary,
		forMs: durationMs(duration),
		expression: parseExpression(text),
	}));
