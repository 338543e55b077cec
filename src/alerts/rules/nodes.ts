import type { RuleGroup } from '../rule.ts';

/** Alerts about nodes: what each needs to work at all. */
export const nodesRules: RuleGroup = {
	name: 'tributary-nodes',
	rules: [
		{
			name: 'TributaryDown',
			severity: 'critical',
			for: '1m',
			text: 'up{job="tributary"} == 0',
			summary: 'node {{ $labels.instance }} does not answer',
			description: 'The operations surface of the node cannot be scraped.',
			runbook:
				'The operations surface of the node cannot be scraped. Look at the process and its last log lines. Exit code 2 means a wrong configuration, and one line names the variable.',
			beyondNode: true,
		},
		{
			name: 'TributaryDatabaseDown',
			severity: 'critical',
			for: '30s',
			text: 'tributary_database_up == 0',
			summary: 'node {{ $labels.instance }} has no database',
			description: 'No message is acknowledged. MLLP reading pauses, connections close after UNAVAILABLE_MS_MAX, and HTTP answers 503.',
			runbook:
				'Nothing is acknowledged: MLLP reading pauses and connections close after UNAVAILABLE_MS_MAX, HTTP answers 503. Bring the database back. Nothing is lost: what was not acknowledged stays with its sender. Reading resumes by itself.',
		},
		{
			name: 'TributaryObjectStoreDown',
			severity: 'critical',
			for: '30s',
			text: 'tributary_object_store_up == 0',
			summary: 'the object store of {{ $labels.instance }} is full or does not answer',
			description: 'Images are answered 0xA700 or 503, and /health/ready is 503. Messages are still taken.',
			runbook:
				'The object store is full, refuses, or does not answer; the log and `/health/ready` say which. Images are answered 0xA700, and 503 over DICOMweb, and their senders send them again. Messages are still taken by this node, but a balancer that looks at `/health/ready` sends none. Free space, or bring the disk or the bucket back; the node recovers by itself. A step of the store that takes longer than OBJECT_STORE_MS_MAX is given up (`tributary_object_store_timeouts_total`), and while one hangs nothing new is begun. Requests to a bucket are sent OBJECT_STORE_ATTEMPTS_MAX times. A disk that hangs also holds the threads that look up names and check passwords, so signing in may wait for it.',
		},
		{
			name: 'TributaryShardDown',
			severity: 'critical',
			for: '1m',
			text: 'tributary_shard_available == 0',
			summary: 'shard {{ $labels.shard }} of {{ $labels.instance }} processes no batches',
			description: 'Messages of the sites in this shard wait.',
			runbook:
				'The sites of this shard wait. A worker starts again by itself within seconds. When it does not, restart the node; what it had not acknowledged is resent.',
		},
		{
			name: 'TributaryCertificateExpires',
			severity: 'warning',
			for: '10m',
			text: 'tributary_tls_remaining_seconds < 1209600',
			summary: 'a certificate of {{ $labels.instance }} expires within 14 days',
			description:
				'The label file says which. Replace the files of TLS_CERT_FILE, TLS_KEY_FILE or TLS_CLIENT_CA_FILE; they are used without a restart.',
			runbook:
				'A certificate of TLS_CERT_FILE or TLS_CLIENT_CA_FILE expires within 14 days. Replace the files. They are used within ten seconds, or at once after SIGHUP to a node of one process.',
		},
		{
			name: 'TributaryCertificateRefused',
			severity: 'warning',
			for: '0m',
			text: 'increase(tributary_tls_renewals_total{outcome="refused"}[15m]) > 0',
			summary: 'node {{ $labels.instance }} cannot use its new TLS files',
			description: 'The log names the variable and the reason. The previous certificates stay in use.',
			runbook:
				'The TLS files were changed and cannot be used; the log names the variable and the reason. The previous certificates stay in use until they expire, and the node would not start again with these files. Put a key and a certificate in place that belong together.',
		},
		{
			name: 'TributaryAuditLost',
			severity: 'critical',
			for: '0m',
			text: 'increase(tributary_audit_events_total{outcome="lost"}[15m]) > 0',
			summary: 'node {{ $labels.instance }} loses events of the audit trail',
			description: 'More events wait than AUDIT_EVENTS_MAX allows, because the database does not take them. The log names some of them.',
			runbook:
				'More events of the audit trail wait in memory than AUDIT_EVENTS_MAX allows, because the database does not take them. The log names the first of those that are lost. Bring the database back; raise AUDIT_EVENTS_MAX if memory allows.',
			list: '/audit',
		},
		{
			name: 'TributaryAuditNotSent',
			severity: 'warning',
			for: '5m',
			text: 'max by (job) (tributary_audit_forward_lag_seconds) > 300',
			summary: 'the audit trail cannot be sent',
			description:
				'The receiver of AUDIT_SYSLOG_URL does not take it. It waits in the database, so nothing is lost; the log names the reason.',
			runbook:
				'The receiver of AUDIT_SYSLOG_URL does not take the audit trail, and the log names the reason. Look at the receiver, its certificate and the network. The trail waits in the database and is sent when the receiver is back.',
			list: '/audit',
		},
		{
			name: 'TributaryNotificationsFailed',
			severity: 'warning',
			for: '0m',
			text: 'max by (job) (tributary_notifications_failing) > 0',
			summary: 'notifications about alerts cannot be sent',
			description: 'The latest notification of a recipient failed three times or was given up.',
			runbook:
				'A mail server or a receiver of webhooks does not take notifications. `tributary notification list` names the recipients, `tributary notification deliveries <id>` the reasons. Correct SMTP_URL or the recipient, then `tributary notification test <id>`. What waits is sent when the recipient is back; what was given up is not sent again.',
			list: '/notifications',
		},
		{
			name: 'TributaryDiskNearlyFull',
			severity: 'warning',
			for: '5m',
			text: 'max by (instance, store) (tributary_budget_used_ratio) > 0.85',
			summary: 'the {{ $labels.store }} of {{ $labels.instance }} is nearly full',
			description: 'More than 85 % of DISK_BUDGET_BYTES, of the file system with DATA_DIR, or of DATABASE_BUDGET_BYTES is in use.',
			runbook:
				'More than 85 % is in use: of the file system with DATA_DIR, or of DISK_BUDGET_BYTES (`disk`), or of DATABASE_BUDGET_BYTES (`database`). Add space, or keep less: `tributary retention preview` says what shorter times would remove, and [What stays, what goes](#what-stays-what-goes) says how to set them. Removed images give their space back when their segment is compacted, about an hour later. PostgreSQL uses the space of removed rows again; dropped months give theirs back at once.',
		},
		{
			name: 'TributaryDiskFull',
			severity: 'critical',
			for: '1m',
			text: 'max by (instance, store) (tributary_budget_used_ratio) > 0.95',
			summary: 'the {{ $labels.store }} of {{ $labels.instance }} is full',
			description: 'More than 95 % is in use. A full disk stops the database, and then nothing is acknowledged.',
			runbook:
				'More than 95 % is in use. With a full disk PostgreSQL stops, nothing is acknowledged, and senders keep what they have. Add space now. Nothing that was acknowledged is lost.',
		},
		{
			name: 'TributaryRetentionFailed',
			severity: 'warning',
			for: '0m',
			text: 'max by (job) (tributary_retention_failing) > 0',
			summary: 'retention failed',
			list: '/retention?tab=runs',
			description: 'The latest run failed. What is too old stays until a run succeeds. The next one follows within two hours.',
			runbook:
				'The latest run of retention failed. `tributary retention runs` says why, and the log has the error. What it removed before it failed is gone; everything else stays until a run succeeds. A failed run is tried again after an hour. `tributary retention run` tries it at once.',
		},
		{
			name: 'TributaryArchiveFailing',
			severity: 'critical',
			for: '5m',
			text: 'max by (job) (tributary_database_archive_failing) > 0',
			summary: 'the database cannot archive its WAL',
			description: 'The latest attempt of archive_command failed. A restore to a point in time ends there, and the WAL fills the disk.',
			runbook:
				'The latest attempt of `archive_command` failed, as `pg_stat_archiver` says. The log of PostgreSQL has the reason: usually the place of the archive is full or cannot be reached. Until it is mended, WAL stays in `pg_wal` and fills the disk of the database, and a restore reaches only what was archived.',
		},
		{
			name: 'TributaryStandbyBehind',
			severity: 'warning',
			for: '5m',
			text: 'max by (job) (tributary_database_standby_lag_bytes) > 268435456',
			summary: 'a standby of the database is far behind',
			description: 'It lacks more than 256 MiB of WAL. It takes long to take over, and a synchronous one holds up acknowledgements.',
			runbook:
				'A standby lacks more than 256 MiB of WAL, whether the service reads from it or not. `select application_name, client_addr, state, sync_state, replay_lsn, replay_lag from pg_stat_replication` on the primary names it. Look at its disk and its network, at `pg_get_wal_replay_pause_state()` there, and at long queries that hold up what is replayed (`max_standby_streaming_delay`).',
		},
		{
			name: 'TributaryStandbyLost',
			severity: 'warning',
			for: '5m',
			text: 'max by (job) (max_over_time(tributary_database_standbys[1d])) - max by (job) (tributary_database_standbys) > 0',
			summary: 'fewer standbys follow the database than within the last day',
			description: 'A failover has one server less to go to. Without its synchronous standby the primary acknowledges nothing.',
			runbook:
				'Fewer standbys are connected than at some time of the last day. `select application_name, client_addr, state, sync_state from pg_stat_replication` on the primary lists those that are left. Bring the other one back; its log says why it left. Where `synchronous_standby_names` asks for it, commits wait until it is back or the setting is changed. One that was taken away on purpose ends the alert after a day.',
			beyondNode: true,
		},
		{
			name: 'TributaryWalHeldBack',
			severity: 'warning',
			for: '5m',
			text: 'max by (job) (tributary_database_slot_wal_bytes) > 1073741824',
			summary: 'a replication slot holds back WAL of the database',
			description: 'It keeps more than 1 GiB that its standby has not fetched. Without max_slot_wal_keep_size it fills the disk.',
			runbook:
				"A replication slot holds back more than 1 GiB of WAL. `select slot_name, active, wal_status, pg_current_wal_lsn() - restart_lsn as bytes from pg_replication_slots order by 4 desc` names it. If its standby is coming back, see that the disk of the database lasts until then. If nobody needs it any more, `select pg_drop_replication_slot('<name>')` lets the WAL go. `max_slot_wal_keep_size` is the limit beyond which PostgreSQL gives the slot up by itself; the standby is then made anew.",
		},
		{
			name: 'TributarySiteClosed',
			severity: 'critical',
			for: '10m',
			text: 'max by (job) (tributary_closed_sites) > 0',
			summary: 'the senders of a site that moves have waited for ten minutes',
			description: 'Nothing is taken for it while the last round of the move compares the site. Reads go on.',
			runbook:
				'A site is closed for the switch of `tributary site move`, and its senders keep what they have. `tributary site show <slug>` says which database it goes to. The command tells how far it is; the last round takes about as long as the one before. If the senders cannot wait, end the command: the site opens within a minute, nothing is lost, and the move may be repeated at a quieter time.',
		},
		{
			name: 'TributarySiteMoveUnfinished',
			severity: 'warning',
			for: '24h',
			text: 'max by (job, state) (tributary_moving_sites{state=~"leaving|arriving"}) > 0',
			summary: 'the move of a site to another database was not finished: {{ $labels.state }}',
			description: 'A copy of the site grows old there. A site that arrives is served nowhere if it has left the other database.',
			runbook:
				'A move was begun a day ago and neither ended nor given up. `tributary site show <slug>` says which database the other one is. Repeat `tributary site move` where the site was; it copies what has changed and goes on. To give it up, run it with `--abandon`. A site that has `left` there and is `arriving` here takes nothing until the command is repeated.',
		},
		{
			name: 'TributaryTransactionLong',
			severity: 'warning',
			for: '5m',
			text: 'max by (job) (tributary_database_longest_transaction_seconds) > 3600',
			summary: 'a transaction of the database has been open for an hour',
			description: 'Until it ends, dead rows cannot be removed, and a replica may lag.',
			runbook:
				'A transaction has been open for more than an hour, and VACUUM removes no row that became dead since it began. `select pid, application_name, xact_start, state from pg_stat_activity where xact_start is not null order by xact_start` names it. Where application_name begins with `tributary` it belongs to this service (an export of a very large site may take that long); any other has probably been forgotten. `select pg_terminate_backend(<pid>)` ends it.',
		},
		{
			name: 'TributaryTableBloat',
			severity: 'warning',
			for: '1h',
			text: 'max by (job) (tributary_database_dead_rows_ratio) > 0.4',
			summary: 'a table of the database is mostly dead rows',
			description: 'Autovacuum does not keep up, or a transaction that is open keeps it from removing them.',
			runbook:
				'In a table of more than 100,000 rows, two rows in five are dead. `select relname, n_live_tup, n_dead_tup, last_autovacuum from pg_stat_user_tables order by n_dead_tup desc limit 10` names it. Look for transactions that are open (TributaryTransactionLong) and for replication slots that nobody reads; then let autovacuum take more (`autovacuum_vacuum_cost_limit`, `autovacuum_max_workers`), or run `vacuum` on that table.',
		},
		{
			name: 'TributaryWorkerRestarts',
			severity: 'warning',
			for: '0m',
			text: 'increase(tributary_worker_restarts_total[15m]) > 3',
			summary: 'workers of {{ $labels.instance }} keep ending',
			description: 'A message may be ending the worker; the log names its id.',
			runbook:
				'A message may be ending the worker. The log line of the restart names the messages of the batch by their ids. A message that ends a worker twice is refused and kept in the message log.',
			list: '/messages?outcome=refused',
		},
		{
			name: 'TributaryMessageTooLong',
			severity: 'warning',
			for: '0m',
			text: 'sum by (instance, step) (increase(tributary_message_cpu_budget_total{step=~"ended|refused"}[15m])) > 0',
			summary: 'a message on {{ $labels.instance }} takes too much processor time: {{ $labels.step }}',
			description: 'A worker was ended because of it. It is tried again alone, and refused when it takes MESSAGE_CPU_MS_MAX twice.',
			runbook:
				'A message took more processor time than it may, and its worker was ended. The log names the message and its site (`a worker was ended, because a message took too much processor time`). Other messages of that worker are tried again at once. The message itself goes to a worker for long messages, where it has MESSAGE_CPU_MS_MAX. `refused`: it spent that twice, was answered AE or 422, and stands in the message log. Look at it with `tributary messages show`. If it is wanted, raise MESSAGE_CPU_MS_MAX and replay it; `tributary messages replay` has no budget. If a sender keeps sending such messages, stop its client. A healthy message of usual size that is ended on a slow machine calls for a larger SHARED_CPU_MS_MAX.',
			list: '/messages?outcome=refused',
		},
		{
			name: 'TributaryEventLoopLag',
			severity: 'warning',
			for: '5m',
			text: 'nodejs_eventloop_lag_p99_seconds{job="tributary"} > 0.5',
			summary: 'the main thread of {{ $labels.instance }} is busy',
			description: 'Every connection has to wait.',
			runbook:
				'Every socket waits for the event loop. One node has too many connections or very large messages. Look at the CPU panel and add a node.',
		},
		{
			name: 'TributaryAccessSnapshotStale',
			severity: 'critical',
			for: '30s',
			text: 'tributary_access_snapshot_age_seconds > 10',
			summary: 'node {{ $labels.instance }} may still accept revoked keys',
			description: 'Keys and integration clients have not been refreshed. Normally a change takes effect within one second.',
			runbook:
				'Keys and integration clients have not been refreshed; normally a change takes effect within one second. The database answers slowly or not at all to the poll of the access version. Until it does, callers that were known stay known; see [While the database is away](#while-the-database-is-away).',
			list: '/keys',
		},
		{
			name: 'TributaryBackupOld',
			severity: 'warning',
			for: '5m',
			text: 'max by (job) (tributary_backup_age_seconds) > 129600',
			summary: 'the last backup is older than 36 hours',
			description: 'What has been received since then is in the database and the object store only.',
			runbook:
				'No backup has finished for 36 hours. `tributary backup list` shows whether one was cut off. Run `tributary backup` again; it uses the objects that are already copied. Look at the timer (`systemctl status tributary-backup.timer`), and at the space where the backups are kept.',
		},
	],
};
