import type { RuleGroup } from '../rule.ts';

/** Alerts about messages on their way into the record. */
export const messagesRules: RuleGroup = {
	name: 'tributary-messages',
	rules: [
		{
			name: 'TributarySendersDropped',
			severity: 'critical',
			for: '0m',
			text: 'sum by (instance) (increase(tributary_mllp_connection_ends_total{reason="unavailable"}[5m])) > 0',
			summary: 'node {{ $labels.instance }} closed connections without an answer',
			description: 'Messages could not be stored for UNAVAILABLE_MS_MAX. Their senders keep them and send them again.',
			runbook:
				'Messages could not be stored for UNAVAILABLE_MS_MAX. Their senders keep them and resend. Look at the database first, then at mailboxes and the stages of a transaction.',
			list: '/',
		},
		{
			name: 'TributaryAcknowledgementSlow',
			severity: 'warning',
			for: '10m',
			text: 'histogram_quantile(0.99, sum by (le, instance, surface) (rate(tributary_hl7_acknowledgement_seconds_bucket[5m]))) > 2',
			summary: 'acknowledgements of {{ $labels.surface }} on {{ $labels.instance }} are slow',
			description: 'The 99th percentile is above two seconds.',
			runbook:
				'One acknowledgement in a hundred takes more than two seconds. The stages of a transaction show where the time goes. A slow commit points to the disk of the database.',
			list: '/messages?surface={{ $labels.surface }}',
		},
		{
			name: 'TributaryRefusalsHigh',
			severity: 'warning',
			for: '15m',
			text: 'sum by (site) (rate(tributary_site_messages_total{outcome="refused"}[15m])) / sum by (site) (rate(tributary_site_messages_total[15m])) > 0.2',
			summary: 'many messages of site {{ $labels.site }} are refused',
			description: 'More than one message in five is answered AE. The message log has the reasons.',
			runbook:
				'More than one message in five is answered AE. `tributary messages list --site <slug> --outcome refused` shows the reasons. Correct the configuration, then replay them.',
			list: '/failures?site={{ $labels.site }}',
		},
		{
			name: 'TributarySiteSilent',
			severity: 'info',
			for: '15m',
			text: 'time() - max by (site) (tributary_site_last_message_timestamp_seconds) > 7200 and sum by (site) (increase(tributary_site_messages_total[1d] offset 2h)) > 100',
			summary: 'site {{ $labels.site }} sends nothing',
			description: 'It has sent nothing for two hours, but more than a hundred messages in the day before.',
			runbook:
				'The site sent more than a hundred messages in the day before. Ask the sender, and look at refused connections: a changed address looks like silence.',
			list: '/messages?site={{ $labels.site }}',
			beyondNode: true,
		},
		{
			name: 'TributaryMailboxBacklog',
			severity: 'warning',
			for: '0m',
			text: 'min_over_time(tributary_mailbox_messages[10m]) > 500',
			summary: 'messages wait on {{ $labels.instance }}',
			description: 'Messages arrive faster than the database can store them.',
			runbook:
				'More messages come in than the database takes. Check whether one site floods (fullest mailbox) or the database is slow (stages of a transaction).',
			list: '/sites',
		},
		{
			name: 'TributaryMailboxFull',
			severity: 'warning',
			for: '0m',
			text: 'increase(tributary_mailbox_full_total[10m]) > 0',
			summary: 'a mailbox of {{ $labels.instance }} is full',
			description: 'Senders have to pause or get 503.',
			runbook:
				'Senders are paused or answered 503. Proceed as for TributaryMailboxBacklog. MAILBOX_MESSAGES_MAX and MAILBOX_BYTES_MAX raise what may wait, at the cost of memory.',
			list: '/sites',
		},
		{
			name: 'TributaryBatchRetries',
			severity: 'warning',
			for: '10m',
			text: 'sum by (instance, reason) (rate(tributary_ingest_batch_retries_total[10m])) > 0.1',
			summary: 'batches of {{ $labels.instance }} are retried: {{ $labels.reason }}',
			description: 'Transactions fail and are repeated.',
			runbook:
				'Transactions fail and are repeated. `database`: PostgreSQL asks for a repeat because two nodes write to the same sites, which is harmless while it is rare, or because it is short of memory, disk or connections, restarts or fails over. The log has the SQLSTATE. `worker`: a worker ended; see TributaryWorkerRestarts.',
		},
	],
};
