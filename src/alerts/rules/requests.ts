import type { RuleGroup } from '../rule.ts';

/** Alerts about requests, exports and imports, and images. */
export const requestsRules: RuleGroup = {
	name: 'tributary-requests',
	rules: [
		{
			name: 'TributaryHttpErrors',
			severity: 'warning',
			for: '5m',
			text: 'sum by (instance, surface) (rate(tributary_http_requests_total{status="5xx", surface!="operations"}[5m])) / sum by (instance, surface) (rate(tributary_http_requests_total{surface!="operations"}[5m])) > 0.05',
			summary: '{{ $labels.surface }} on {{ $labels.instance }} answers 5xx',
			description: 'More than one request in twenty fails.',
			runbook:
				"More than one request in twenty fails. 503: check the mailboxes and the database. 500: search the log for the request id in the caller's answer.",
		},
		{
			name: 'TributaryReadFailures',
			severity: 'warning',
			for: '5m',
			text: 'rate(tributary_read_failures_total[5m]) > 0.1',
			summary: 'reads on {{ $labels.instance }} fail',
			description: 'The database refuses or does not answer reads and searches.',
			runbook:
				'The database refuses or does not answer reads and searches. Check the server of DATABASE_READ_URL: connections, replication, disk.',
		},
		{
			name: 'TributaryReplicaDown',
			severity: 'warning',
			for: '1m',
			text: 'tributary_replica_up == 0',
			summary: 'the replica of {{ $labels.instance }} does not answer',
			description: 'The primary answers all reads and searches in its place.',
			runbook:
				'The server of DATABASE_READ_URL does not answer, or is no longer a standby of the primary; `/health/ready` and `tributary status` say which. Callers notice nothing, because the primary answers in its place, which may become too much for it. Bring the standby back, or set DATABASE_READ_URL to another one. It is read again by itself within a second.',
		},
		{
			name: 'TributaryReplicaBehind',
			severity: 'warning',
			for: '2m',
			text: 'tributary_replica_lag_seconds > 10',
			summary: 'the replica of {{ $labels.instance }} is behind',
			description: 'The primary answers what the replica does not have yet; beyond REPLICA_LAG_MS_MAX it answers all reads.',
			runbook:
				'The server of DATABASE_READ_URL lacks what was committed more than ten seconds ago. Callers see no old data: the primary answers what the replica does not have yet, and beyond REPLICA_LAG_MS_MAX everything. Look at the standby: `select * from pg_stat_replication` on the primary, `pg_get_wal_replay_pause_state()`, its disk, and long queries that hold up what is replayed (`max_standby_streaming_delay`).',
		},
		{
			name: 'TributaryBulkFailed',
			severity: 'info',
			for: '1m',
			text: 'increase(tributary_bulk_jobs_total{outcome="failed"}[1h]) > 0',
			summary: 'an {{ $labels.kind }} failed on {{ $labels.instance }}',
			description: 'The status of the job says why.',
			runbook:
				'The database was away for longer than UNAVAILABLE_MS_MAX, the disk of DATA_DIR is full, or more lines of an import than IMPORT_REFUSED_MAX were refused. The status of the job says which.',
		},
		{
			name: 'TributaryInstancesRefused',
			severity: 'warning',
			for: '0m',
			text: 'increase(tributary_dimse_messages_total{operation="C-STORE", outcome="failure"}[15m]) > 0',
			summary: 'node {{ $labels.instance }} refuses instances',
			description: 'Instances from modalities are not stored.',
			runbook:
				'C-STORE is answered with a failure. 0xA700 points to the disk or the database, 0xA900 and 0xC000 to the modality. The log and the message log have the reasons.',
			list: '/associations',
		},
		{
			name: 'TributaryWebInstancesRefused',
			severity: 'warning',
			for: '0m',
			text: 'increase(tributary_dicomweb_instances_total{operation="store", outcome="failure"}[15m]) > 0',
			summary: 'node {{ $labels.instance }} refuses instances over DICOMweb',
			description: 'Instances of a STOW-RS request are not stored; the answer of the request says which.',
			runbook:
				'A STOW-RS request had instances that are not stored. Its answer lists them with their reasons (0008,1197), and the message log has them too. 503 points to the object store or the database: see TributaryObjectStoreDown and TributaryDatabaseDown.',
			list: '/messages?surface=dicomweb&outcome=refused',
		},
		{
			name: 'TributaryConflictsOpen',
			severity: 'info',
			for: '24h',
			text: 'max by (site) (tributary_imaging_conflicts_open) > 0',
			summary: 'conflicts of {{ $labels.site }} wait for a decision',
			description: 'Instances arrived with different content under SOP Instance UIDs that are already stored.',
			runbook:
				'Other content came under a stored SOP Instance UID, and nobody has decided about it for a day. `tributary conflict list` shows the conflicts; until they are settled, storage commitment of these instances fails.',
			list: '/conflicts?site={{ $labels.site }}',
		},
		{
			name: 'TributaryAssociationsRejected',
			severity: 'warning',
			for: '5m',
			text: 'sum by (instance, result) (rate(tributary_dimse_association_requests_total{result!="accepted"}[5m])) > 0.1',
			summary: 'associations on {{ $labels.instance }} are {{ $labels.result }}',
			description: 'The AE title is wrong, no client lists the address, or the association limit is reached.',
			runbook:
				"`rejected-called`: check the AE title of the site. `rejected-calling`: add calling AE title and address to a client of the site. `rejected-limit`: raise DIMSE_ASSOCIATIONS_MAX, or look for associations that are never released; `rejected-site-limit`: the same applies to the site's `associations_max`.",
			list: '/associations',
		},
		{
			name: 'TributaryCommitmentGivenUp',
			severity: 'warning',
			for: '1m',
			text: 'increase(tributary_commitment_reports_total{outcome="given-up"}[1h]) > 0',
			summary: 'node {{ $labels.instance }} gave up a commitment report',
			description: 'The modality does not receive the report and keeps its instances.',
			runbook:
				'A report could not be delivered for COMMITMENT_REPORT_MS_MAX. `tributary commitment list --state failed` shows the AE and the reason: register it (`tributary ae add`), or correct its host and port. The modality then has to ask again.',
		},
		{
			name: 'TributaryInstancesDamaged',
			severity: 'critical',
			for: '1m',
			text: 'increase(tributary_commitment_instances_total{outcome="damaged"}[1h]) > 0',
			summary: 'node {{ $labels.instance }} found indexed instances that are damaged in the object store',
			description: 'Their storage commitment is refused. The modality still has them.',
			runbook:
				'A file of the object store is gone or shorter than the index says. `tributary doctor --objects` lists what is missing; have the modality send it again before it deletes its copy, and look at the disk.',
			list: '/studies',
		},
		{
			name: 'TributarySegmentDamaged',
			severity: 'critical',
			for: '1m',
			text: 'increase(tributary_object_segment_compactions_total{outcome="damaged"}[1h]) > 0',
			summary: 'node {{ $labels.instance }} found damaged objects in a segment of the object store',
			description: 'The segment is kept as it is. A backup or the modality may still have the objects.',
			runbook:
				'A record of a segment does not have the content that it was written with, so the segment is not compacted and stays. The log names the segment. `tributary doctor --objects` lists rows whose object is missing. Look at the disk, restore the segment from a backup, or have the modality send the images again.',
			list: '/studies',
		},
	],
};
