import { latencySeconds, type MetricDefinitions, type MetricsOf } from '#core/metric-definition.ts';

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

const mailboxHolders = ['client', 'site', 'node'] as const;
/** The holder of too many waiting messages. */
export type MailboxHolder = (typeof mailboxHolders)[number];

/** Mailboxes, batches and workers. */
export const siteMetricDefinitions = {
	reportVersions: {
		name: 'tributary_report_versions_total',
		kind: 'counter',
		help: 'Versions of reports (DiagnosticReport) that messages and new studies wrote, by status.',
		labels: { status: statuses },
	},
	mailboxMessages: {
		name: 'tributary_mailbox_messages',
		kind: 'gauge',
		help: 'Messages waiting in the mailboxes of all sites.',
		labels: {},
	},
	mailboxBytes: {
		name: 'tributary_mailbox_bytes',
		kind: 'gauge',
		help: 'Bytes waiting in the mailboxes of all sites.',
		labels: {},
	},
	mailboxDeepest: {
		name: 'tributary_mailbox_deepest_messages',
		kind: 'gauge',
		help: 'Messages waiting in the fullest mailbox.',
		across: 'max',
		labels: {},
	},
	mailboxFull: {
		name: 'tributary_mailbox_full_total',
		kind: 'counter',
		help: 'Messages turned away because their client, the mailbox of their site, or all mailboxes together had no room.',
		labels: { holder: mailboxHolders },
	},
	batchMessages: {
		name: 'tributary_ingest_batch_messages',
		kind: 'histogram',
		help: 'Messages of one transaction.',
		labels: {},
		buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
	},
	batchSeconds: {
		name: 'tributary_ingest_batch_seconds',
		kind: 'histogram',
		help: 'Duration of the stages of one transaction.',
		labels: { stage: ['interpret', 'read', 'apply', 'write', 'total'] },
		buckets: latencySeconds,
	},
	batchRetries: {
		name: 'tributary_ingest_batch_retries_total',
		kind: 'counter',
		help: 'Batches that were retried, because the database requested it or was lost, or because a worker ended.',
		labels: { reason: ['database', 'worker'] },
	},
	batchesAhead: {
		name: 'tributary_ingest_batches_ahead_total',
		kind: 'counter',
		help: 'Batches that were interpreted while the one before was stored. Behind: not all of that was, so they were put back.',
		labels: { result: ['done', 'behind'] },
	},
	batchBisections: {
		name: 'tributary_ingest_batch_bisections_total',
		kind: 'counter',
		help: 'Batches that were halved to find the message that the database refused.',
		labels: {},
	},
	messageBudget: {
		name: 'tributary_message_cpu_budget_total',
		kind: 'counter',
		help: 'Messages that took long in a worker. Ended: the worker was ended, and the message is tried again alone. Refused: after that happened twice.',
		labels: { step: ['warned', 'ended', 'refused'] },
	},
	workerRestarts: {
		name: 'tributary_worker_restarts_total',
		kind: 'counter',
		help: 'Ingest workers that ended unexpectedly and were restarted.',
		labels: {},
	},
	shardAvailable: {
		name: 'tributary_shard_available',
		kind: 'gauge',
		help: '1 while the shard processes batches.',
		labels: { shard: { boundedBy: 'WORKERS' } },
	},
} as const satisfies MetricDefinitions;

export type SiteMetrics = MetricsOf<typeof siteMetricDefinitions>;
