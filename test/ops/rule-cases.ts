/** A rule is tested on series as promtool writes them, and has to fire alerts with these labels at `at`. */
export interface Scene {
	/** Says what happens. */
	what: string;
	/** The distance of the samples; 15s unless told. */
	interval?: string;
	series: Readonly<Record<string, string>>;
	at: string;
	/** The labels of each alert that fires, without its name and severity. None: it does not fire. */
	fires?: readonly Readonly<Record<string, string>>[];
}

const node = { instance: 'node-1', job: 'tributary' };

/** The text of a series of the node. */
function of(metric: string, labels: Readonly<Record<string, string>> = {}): string {
	const all = Object.entries({ ...labels, ...node }).map(([label, value]) => `${label}="${value}"`);
	return `${metric}{${all.join(',')}}`;
}

/** A counter stands at zero from the start, for ten minutes, and then at `count`: that happened between two scrapes. */
const counted = (count: number) => `0x39 ${count}x400`;
/** A counter that grew by `perSample`, from the start. */
const growing = (perSample: number) => `0+${perSample}x400`;
/** Ten minutes after the start, and this much later, in seconds. */
const after = (seconds: number) => `${600 + seconds}s`;

interface Counter {
	metric: string;
	labels?: Readonly<Record<string, string>>;
	/** Labels of a count beside it, which is not meant. */
	beside?: Readonly<Record<string, string>>;
	/** The labels of the alert; by default all of the series. */
	alert?: Readonly<Record<string, string>>;
	/** The rule waits for this time, in seconds. */
	waits?: number;
	windowSeconds: number;
}

/** The scenes of a rule that fires on the first event, and ends when its window has passed. */
function onFirstEvent({ metric, labels = {}, beside, alert = { ...labels, ...node }, waits = 0, windowSeconds }: Counter): Scene[] {
	const series = { [of(metric, labels)]: counted(1) };
	const scenes: Scene[] = [
		{ what: 'the first event', series, at: after(waits + 15), fires: [alert] },
		{ what: 'the window has passed', series, at: after(windowSeconds + 30) },
		{ what: 'nothing happens', series: { [of(metric, labels)]: '0x400' }, at: after(120) },
	];
	if (beside !== undefined)
		scenes.push({
			what: 'something else happens',
			series: { [of(metric, beside)]: counted(5), [of(metric, labels)]: '0x400' },
			at: after(waits + 15),
		});
	return scenes;
}

interface Gauge {
	metric: string;
	labels?: Readonly<Record<string, string>>;
	alert?: Readonly<Record<string, string>>;
	/** A value for which the rule holds, and one for which it just does not. */
	holds: number;
	not: number;
	/** The rule waits for this time, in seconds. */
	waits: number;
}

/** The scenes of a rule about a gauge: it fires when the value has held for as long as it asks, and not a moment before. */
function onGauge({ metric, labels = {}, alert = { ...labels, ...node }, holds, not, waits }: Gauge): Scene[] {
	const name = of(metric, labels);
	const samples = Math.ceil(waits / 15) + 8;
	const series = { [name]: `${not}x39 ${holds}x${samples}` };
	const scenes: Scene[] = [
		{ what: 'it holds', series, at: after(waits + 30), fires: [alert] },
		{ what: 'it is at the threshold', series: { [name]: `${not}x${samples + 40}` }, at: after(waits + 30) },
	];
	if (waits > 0) scenes.push({ what: 'it has not held long enough', series, at: after(waits - 15) });
	return scenes;
}

const byInstance = { instance: node.instance };
const refused = { surface: 'mllp', outcome: 'refused' };

/** A rate of `perSecond` that lasts. */
function onRate({
	metric,
	labels = {},
	alert,
	waits,
	perSecond,
}: Omit<Counter, 'windowSeconds' | 'beside'> & { perSecond: number }): Scene[] {
	const name = of(metric, labels);
	const shown = alert ?? { ...labels, ...node };
	const over = growing(perSecond * 15 * 1.1);
	return [
		{ what: 'more than it may', series: { [name]: over }, at: after((waits ?? 0) + 900), fires: [shown] },
		{ what: 'less than it may', series: { [name]: growing(perSecond * 15 * 0.9) }, at: after((waits ?? 0) + 900) },
	];
}

const nodes: Record<string, readonly Scene[]> = {
	TributaryBackupOld: onGauge({
		...{ metric: 'tributary_backup_age_seconds', alert: { job: 'tributary' }, holds: 129_601, not: 129_600, waits: 300 },
	}),
	TributaryDown: onGauge({ metric: 'up', holds: 0, not: 1, waits: 60 }),
	TributaryDatabaseDown: onGauge({ metric: 'tributary_database_up', holds: 0, not: 1, waits: 30 }),
	TributaryReplicaDown: onGauge({ metric: 'tributary_replica_up', holds: 0, not: 1, waits: 60 }),
	TributaryReplicaBehind: onGauge({ metric: 'tributary_replica_lag_seconds', holds: 11, not: 10, waits: 120 }),
	TributaryObjectStoreDown: onGauge({ metric: 'tributary_object_store_up', holds: 0, not: 1, waits: 30 }),
	TributaryShardDown: onGauge({ metric: 'tributary_shard_available', labels: { shard: '1' }, holds: 0, not: 1, waits: 60 }),
	TributaryCertificateExpires: onGauge({
		...{ metric: 'tributary_tls_remaining_seconds', labels: { file: 'certificate' } },
		...{ holds: 1_209_599, not: 1_209_600, waits: 600 },
	}),
	TributaryCertificateRefused: onFirstEvent({
		...{ metric: 'tributary_tls_renewals_total', labels: { outcome: 'refused' }, beside: { outcome: 'taken' } },
		windowSeconds: 900,
	}),
	TributaryAuditLost: onFirstEvent({
		...{ metric: 'tributary_audit_events_total', labels: { outcome: 'lost' }, beside: { outcome: 'written' } },
		windowSeconds: 900,
	}),
	TributaryAuditNotSent: onGauge({
		...{ metric: 'tributary_audit_forward_lag_seconds', alert: { job: 'tributary' }, holds: 301, not: 300, waits: 300 },
	}),
	TributaryNotificationsFailed: onGauge({
		...{ metric: 'tributary_notifications_failing', alert: { job: 'tributary' }, holds: 1, not: 0, waits: 0 },
	}),
	TributaryDiskNearlyFull: onGauge({
		...{ metric: 'tributary_budget_used_ratio', labels: { store: 'disk' }, alert: { ...byInstance, store: 'disk' } },
		...{ holds: 0.86, not: 0.85, waits: 300 },
	}),
	TributaryDiskFull: onGauge({
		...{ metric: 'tributary_budget_used_ratio', labels: { store: 'database' }, alert: { ...byInstance, store: 'database' } },
		...{ holds: 0.96, not: 0.95, waits: 60 },
	}),
	TributaryRetentionFailed: onGauge({
		...{ metric: 'tributary_retention_failing', alert: { job: 'tributary' }, holds: 1, not: 0, waits: 0 },
	}),
	TributaryArchiveFailing: onGauge({
		...{ metric: 'tributary_database_archive_failing', alert: { job: 'tributary' }, holds: 1, not: 0, waits: 300 },
	}),
	TributaryStandbyBehind: onGauge({
		...{ metric: 'tributary_database_standby_lag_bytes', alert: { job: 'tributary' }, holds: 268_435_457, not: 268_435_456, waits: 300 },
	}),
	TributaryStandbyLost: onGauge({
		...{ metric: 'tributary_database_standbys', alert: { job: 'tributary' }, holds: 1, not: 2, waits: 300 },
	}),
	TributaryWalHeldBack: onGauge({
		...{ metric: 'tributary_database_slot_wal_bytes', alert: { job: 'tributary' }, holds: 1_073_741_825, not: 1_073_741_824, waits: 300 },
	}),
	TributarySiteClosed: onGauge({ metric: 'tributary_closed_sites', alert: { job: 'tributary' }, holds: 1, not: 0, waits: 600 }),
	TributarySiteMoveUnfinished: onGauge({
		...{ metric: 'tributary_moving_sites', labels: { state: 'arriving' }, alert: { job: 'tributary', state: 'arriving' } },
		...{ holds: 1, not: 0, waits: 86_400 },
	}),
	TributaryTransactionLong: onGauge({
		...{ metric: 'tributary_database_longest_transaction_seconds', alert: { job: 'tributary' }, holds: 3601, not: 3600, waits: 300 },
	}),
	TributaryTableBloat: onGauge({
		...{ metric: 'tributary_database_dead_rows_ratio', alert: { job: 'tributary' }, holds: 0.41, not: 0.4, waits: 3600 },
	}),
	TributaryWorkerRestarts: [{ count: 5, fires: [node] }, { count: 2 }].map(({ count, ...fires }) => ({
		...{ what: `${count} workers end`, series: { [of('tributary_worker_restarts_total')]: counted(count) }, at: after(15), ...fires },
	})),
	TributaryMessageTooLong: onFirstEvent({
		...{ metric: 'tributary_message_cpu_budget_total', labels: { step: 'refused' }, beside: { step: 'warned' } },
		...{ alert: { ...byInstance, step: 'refused' }, windowSeconds: 900 },
	}),
	TributaryEventLoopLag: onGauge({
		metric: 'nodejs_eventloop_lag_p99_seconds',
		labels: { process: '1' },
		holds: 0.6,
		not: 0.5,
		waits: 300,
	}),
	TributaryAccessSnapshotStale: onGauge({ metric: 'tributary_access_snapshot_age_seconds', holds: 11, not: 10, waits: 30 }),
};

const silence = (at: string, stamp: string, messages: string): Pick<Scene, 'series' | 'at' | 'interval'> => ({
	interval: '1m',
	series: {
		[of('tributary_site_last_message_timestamp_seconds', { site: 'north' })]: stamp,
		[of('tributary_site_messages_total', { site: 'north', outcome: 'accepted' })]: messages,
	},
	at,
});

/** A hundred acknowledgements in each interval, by their buckets; `slow` of them took more than 2.5 and at most 5 seconds. */
const acknowledged = (slow: number) => ({
	[of('tributary_hl7_acknowledgement_seconds_bucket', { surface: 'mllp', le: '1' })]: growing(100 - slow),
	[of('tributary_hl7_acknowledgement_seconds_bucket', { surface: 'mllp', le: '2.5' })]: growing(100 - slow),
	[of('tributary_hl7_acknowledgement_seconds_bucket', { surface: 'mllp', le: '5' })]: growing(100),
	[of('tributary_hl7_acknowledgement_seconds_bucket', { surface: 'mllp', le: '+Inf' })]: growing(100),
});

const shares = (name: string, one: Record<string, string>, other: Record<string, string>, part: number) => ({
	[of(name, one)]: growing(part),
	[of(name, other)]: growing(100 - part),
});

const messages: Record<string, readonly Scene[]> = {
	TributarySendersDropped: onFirstEvent({
		...{ metric: 'tributary_mllp_connection_ends_total', labels: { reason: 'unavailable' }, beside: { reason: 'peer' } },
		...{ alert: byInstance, windowSeconds: 300 },
	}),
	TributaryAcknowledgementSlow: [
		{ what: 'two in a hundred are slow', series: acknowledged(2), at: '20m', fires: [{ ...byInstance, surface: 'mllp' }] },
		{ what: 'one in two hundred is slow', series: acknowledged(0.5), at: '20m' },
	],
	TributaryRefusalsHigh: [{ part: 21, fires: [{ site: 'north' }] }, { part: 19 }].map(({ part, ...fires }) => ({
		what: `${part} in a hundred are refused`,
		series: shares('tributary_site_messages_total', { ...refused, site: 'north' }, { outcome: 'accepted', site: 'north' }, part),
		at: '40m',
		...fires,
	})),
	TributarySiteSilent: [
		{
			what: 'the site stops after a day',
			...silence('1600m', '0+60x1440 86400x400', '0+1x1440 1440x400'),
			fires: [{ site: 'north' }],
		},
		{
			what: 'the node starts again while the site is silent',
			...silence('1600m', '0+60x1440 86400x400', '0+1x1440 1440x20 _x5 0x400'),
			fires: [{ site: 'north' }],
		},
		{ what: 'the site sends', ...silence('1600m', '0+60x1700', '0+1x1700') },
		{ what: 'it has not been silent long enough', ...silence('1570m', '0+60x1440 86400x400', '0+1x1440 1440x400') },
		{ what: 'the site never sends much', ...silence('1600m', '0+60x1440 86400x400', '0x720 50x1200') },
	],
	TributaryMailboxBacklog: [
		{ what: 'messages wait', series: { [of('tributary_mailbox_messages')]: '501x100' }, at: '20m', fires: [node] },
		{ what: 'there was room in between', series: { [of('tributary_mailbox_messages')]: '900x60 500x1 900x40' }, at: '20m' },
	],
	TributaryMailboxFull: onFirstEvent({ metric: 'tributary_mailbox_full_total', labels: { holder: 'site' }, windowSeconds: 600 }),
	TributaryBatchRetries: onRate({
		...{ metric: 'tributary_ingest_batch_retries_total', labels: { reason: 'database' }, alert: { ...byInstance, reason: 'database' } },
		...{ waits: 600, perSecond: 0.1 },
	}),
};

const senders: Record<string, readonly Scene[]> = {
	TributaryFeedSilent: onGauge({
		...{ metric: 'tributary_silent_feeds', labels: { site: 'north' }, alert: { site: 'north' }, holds: 1, not: 0, waits: 0 },
	}),
	TributaryUnmatchedMessages: onFirstEvent({
		...{ metric: 'tributary_unmatched_messages_total', labels: { reason: 'no-sender', result: 'logged' } },
		...{ alert: { ...byInstance, reason: 'no-sender' }, windowSeconds: 900 },
	}),
	TributaryUnmatchedDropped: onFirstEvent({
		...{ metric: 'tributary_unmatched_messages_total', labels: { reason: 'tie', result: 'dropped' } },
		...{ beside: { reason: 'tie', result: 'logged' }, windowSeconds: 900 },
	}),
	TributaryConnectionsRefused: onRate({
		...{ metric: 'tributary_mllp_connections_total', labels: { result: 'refused-address' } },
		...{ alert: { ...byInstance, result: 'refused-address' }, waits: 600, perSecond: 0.1 },
	}),
	TributaryFrameErrors: [{ count: 12, fires: [{ ...byInstance, reason: 'too-long' }] }, { count: 9 }].map(({ count, ...fires }) => ({
		what: `${count} frames are broken`,
		series: { [of('tributary_mllp_frame_errors_total', { reason: 'too-long' })]: counted(count) },
		at: after(15),
		...fires,
	})),
	TributaryKeysExpiring: onGauge({
		...{ metric: 'tributary_api_keys_expiring', alert: { job: 'tributary' }, holds: 1, not: 0, waits: 300 },
	}),
	TributaryKeysRefused: onRate({
		...{ metric: 'tributary_access_refusals_total', labels: { protocol: 'http', reason: 'key' }, alert: byInstance },
		...{ waits: 600, perSecond: 1 },
	}),
};

const answers = { surface: 'fhir', route: '/fhir/Patient' };

const requests: Record<string, readonly Scene[]> = {
	TributaryHttpErrors: [{ part: 6, fires: [{ ...byInstance, surface: 'fhir' }] }, { part: 4 }].map(({ part, ...fires }) => ({
		what: `${part} in a hundred fail`,
		series: shares('tributary_http_requests_total', { ...answers, status: '5xx' }, { ...answers, status: '2xx' }, part),
		at: '20m',
		...fires,
	})),
	TributaryReadFailures: onRate({ metric: 'tributary_read_failures_total', waits: 300, perSecond: 0.1 }),
	TributaryBulkFailed: onFirstEvent({
		...{ metric: 'tributary_bulk_jobs_total', labels: { kind: 'export', outcome: 'failed' }, beside: { kind: 'export', outcome: 'done' } },
		...{ waits: 60, windowSeconds: 3600 },
	}),
	TributaryInstancesRefused: onFirstEvent({
		...{ metric: 'tributary_dimse_messages_total', labels: { operation: 'C-STORE', outcome: 'failure' } },
		...{ beside: { operation: 'C-FIND', outcome: 'failure' }, windowSeconds: 900 },
	}),
	TributaryWebInstancesRefused: onFirstEvent({
		...{ metric: 'tributary_dicomweb_instances_total', labels: { operation: 'store', outcome: 'failure' } },
		...{ beside: { operation: 'retrieve', outcome: 'failure' }, windowSeconds: 900 },
	}),
	TributaryConflictsOpen: [
		{
			what: 'a conflict is open for a day',
			interval: '1m',
			series: { [of('tributary_imaging_conflicts_open', { site: 'north' })]: '0x30 1x1600' },
			at: '1472m',
			fires: [{ site: 'north' }],
		},
		{
			what: 'a conflict is open for an hour',
			interval: '1m',
			series: { [of('tributary_imaging_conflicts_open', { site: 'north' })]: '0x30 1x1600' },
			at: '90m',
		},
	],
	TributaryAssociationsRejected: onRate({
		...{ metric: 'tributary_dimse_association_requests_total', labels: { result: 'rejected-called' } },
		...{ alert: { ...byInstance, result: 'rejected-called' }, waits: 300, perSecond: 0.1 },
	}),
	TributaryCommitmentGivenUp: onFirstEvent({
		...{ metric: 'tributary_commitment_reports_total', labels: { association: 'new', outcome: 'given-up' } },
		...{ beside: { association: 'new', outcome: 'failed' }, waits: 60, windowSeconds: 3600 },
	}),
	TributaryInstancesDamaged: onFirstEvent({
		...{ metric: 'tributary_commitment_instances_total', labels: { outcome: 'damaged' }, beside: { outcome: 'missing' } },
		...{ waits: 60, windowSeconds: 3600 },
	}),
	TributarySegmentDamaged: onFirstEvent({
		...{ metric: 'tributary_object_segment_compactions_total', labels: { outcome: 'damaged' }, beside: { outcome: 'emptied' } },
		...{ waits: 60, windowSeconds: 3600 },
	}),
};

/** The scenes of every rule, by its name. */
export const ruleCases: Readonly<Record<string, readonly Scene[]>> = { ...nodes, ...messages, ...senders, ...requests };
