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
				description: 'Nothing is acknowledged: MLLP reading pauses and connections close after UNAVAILABLE_MS_MAX, HTTP answers 503.',
			},
			{
				name: 'TributaryShardDown',
				severity: 'critical',
				for: '1m',
				text: 'tributary_shard_available == 0',
				summary: 'shard {{ $labels.shard }} of {{ $labels.instance }} takes no batches',
				description: 'The sites of this shard wait.',
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
				description: 'Every socket waits for it.',
			},
			{
				name: 'TributaryAccessSnapshotStale',
				severity: 'critical',
				for: '30s',
				text: 'tributary_access_snapshot_age_seconds > 10',
				summary: '{{ $labels.instance }} may not know of revoked keys',
				description: 'Keys and integration clients have not been refreshed; a change takes effect within one second otherwise.',
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
				description: 'Messages could not be stored for UNAVAILABLE_MS_MAX; their senders hold them and resend.',
			},
			{
				name: 'TributaryAcknowledgementSlow',
				severity: 'warning',
				for: '10m',
				text: 'histogram_quantile(0.99, sum by (le, instance, surface) (rate(tributary_hl7_acknowledgement_seconds_bucket[5m]))) > 2',
				summary: 'acknowledgements of {{ $labels.surface }} on {{ $labels.instance }} are slow',
				description: 'One in a hundred takes more than two seconds.',
			},
			{
				name: 'TributaryRefusalsHigh',
				severity: 'warning',
				for: '15m',
				text: 'sum by (site) (rate(tributary_site_messages_total{outcome="refused"}[15m])) / sum by (site) (rate(tributary_site_messages_total[15m])) > 0.2',
				summary: 'site {{ $labels.site }} has many refused messages',
				description: 'More than one in five is answered AE; the message log has the reasons.',
			},
			{
				name: 'TributarySiteSilent',
				severity: 'info',
				for: '15m',
				text: 'sum by (site) (increase(tributary_site_messages_total[2h])) == 0 and sum by (site) (increase(tributary_site_messages_total[1d] offset 2h)) > 100',
				summary: 'site {{ $labels.site }} sends nothing',
				description: 'It sent more than a hundred messages in the day before.',
				beyondNode: true,
			},
			{
				name: 'TributaryMailboxBacklog',
				severity: 'warning',
				for: '0m',
				text: 'min_over_time(tributary_mailbox_messages[10m]) > 500',
				summary: 'messages wait on {{ $labels.instance }}',
				description: 'More comes in than the database takes.',
			},
			{
				name: 'TributaryMailboxFull',
				severity: 'warning',
				for: '0m',
				text: 'increase(tributary_mailbox_full_total[10m]) > 0',
				summary: 'a mailbox of {{ $labels.instance }} is full',
				description: 'Senders are paused or answered 503.',
			},
			{
				name: 'TributaryBatchRetries',
				severity: 'warning',
				for: '10m',
				text: 'sum by (instance, reason) (rate(tributary_ingest_batch_retries_total[10m])) > 0.1',
				summary: 'batches of {{ $labels.instance }} are tried again: {{ $labels.reason }}',
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
				summary: 'messages for no site on {{ $labels.instance }}: {{ $labels.reason }}',
				description: 'MSH-3 and MSH-4 fit no integration client of the address, or those of two sites.',
			},
			{
				name: 'TributaryUnmatchedDropped',
				severity: 'warning',
				for: '0m',
				text: 'increase(tributary_unmatched_messages_total{result="dropped"}[15m]) > 0',
				summary: 'unmatched messages of {{ $labels.instance }} are not logged',
				description: 'More of them came than UNMATCHED_MESSAGES_MAX or UNMATCHED_BYTES_MAX holds, or the database refused them.',
			},
			{
				name: 'TributaryConnectionsRefused',
				severity: 'warning',
				for: '10m',
				text: 'sum by (instance, result) (rate(tributary_mllp_connections_total{result=~"refused-.*"}[10m])) > 0.1',
				summary: 'connections to {{ $labels.instance }} are refused: {{ $labels.result }}',
				description: 'An address that no client lists, a missing certificate or PROXY header, or the connection limit.',
			},
			{
				name: 'TributaryFrameErrors',
				severity: 'warning',
				for: '0m',
				text: 'sum by (instance, reason) (increase(tributary_mllp_frame_errors_total[15m])) > 10',
				summary: 'broken MLLP frames on {{ $labels.instance }}: {{ $labels.reason }}',
				description: 'A sender breaks off, or sends more than MLLP_FRAME_BYTES_MAX.',
			},
			{
				name: 'TributaryKeysRefused',
				severity: 'warning',
				for: '10m',
				text: 'sum by (instance) (rate(tributary_access_refusals_total{protocol="http", reason="key"}[10m])) > 1',
				summary: '{{ $labels.instance }} refuses API keys',
				description: 'A revoked key is still in use, or somebody tries keys.',
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
				summary: 'reads of {{ $labels.instance }} fail',
				description: 'The database refuses or does not answer reads and searches.',
			},
			{
				name: 'TributaryBulkFailed',
				severity: 'info',
				for: '1m',
				text: 'increase(tributary_bulk_jobs_total{outcome="failed"}[1h]) > 0',
				summary: 'an {{ $labels.kind }} failed on {{ $labels.instance }}',
				description: 'Its status says why.',
			},
			{
				name: 'TributaryInstancesRefused',
				severity: 'warning',
				for: '10m',
				text: 'rate(tributary_dimse_messages_total{operation="C-STORE", outcome="failure"}[5m]) > 0',
				summary: '{{ $labels.instance }} refuses instances',
				description: 'Modalities keep sending what is not stored.',
			},
			{
				name: 'TributaryConflictsOpen',
				severity: 'info',
				for: '24h',
				text: 'max by (site) (tributary_imaging_conflicts_open) > 0',
				summary: 'conflicts of {{ $labels.site }} wait for a decision',
				description: 'Other content came under SOP Instance UIDs that are stored.',
			},
			{
				name: 'TributaryAssociationsRejected',
				severity: 'warning',
				for: '5m',
				text: 'sum by (instance, result) (rate(tributary_dimse_association_requests_total{result!="accepted"}[5m])) > 0.1',
				summary: 'associations on {{ $labels.instance }} are {{ $labels.result }}',
				description: 'A wrong AE title, an address that no client lists, or the limit of associations.',
			},
			{
				name: 'TributaryCommitmentGivenUp',
				severity: 'warning',
				for: '1m',
				text: 'increase(tributary_commitment_reports_total{outcome="given-up"}[1h]) > 0',
				summary: '{{ $labels.instance }} gave up a commitment report',
				description: 'A modality waits for it in vain, and keeps its instances.',
			},
			{
				name: 'TributaryInstancesDamaged',
				severity: 'critical',
				for: '1m',
				text: 'increase(tributary_commitment_instances_total{outcome="damaged"}[1h]) > 0',
				summary: '{{ $labels.instance }} finds instances in the index that are not whole in the object store',
				description: 'Storage commitment of them is refused; the modality still has them.',
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
