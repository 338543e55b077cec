import type pg from 'pg';
import { pairSystem, plainSystem, registryRoot } from './messages.ts';
import type { StoredWork } from './verdict.ts';

/**
 * The ways in which work of ledger clients is found, by what it leaves. A time stands for the place of what has no sequence: a sender waits for
 * each answer, so its work comes in different transactions.
 */
const found: readonly string[] = [
	// Results: by their report and their line in the message log.
	`select report.filler_number as key, log.sequence::text as position
	   from diagnostic_report report
	   left join message_log log on log.site_id = report.site_id and log.control_id = report.filler_number and log.outcome = 'accepted'
	  where report.site_id = any($1::uuid[])`,
	`select identifier.value, ((extract(epoch from patient.last_updated) * 1000000)::bigint)::text
	   from patient join patient_identifier identifier on identifier.site_id = patient.site_id and identifier.patient_id = patient.id
	  where patient.site_id = any($1::uuid[]) and identifier.system in ('${plainSystem}', 'urn:oid:${registryRoot}')`,
	`select sop_instance_uid, ((extract(epoch from stored_at) * 1000000)::bigint)::text from imaging_instance where site_id = any($1::uuid[])`,
	// Both parts of a transaction; one alone is named otherwise, and known to nobody.
	`select coalesce(patient.value, observation.value) || case when patient.value is null or observation.value is null then ' (half)' else '' end,
	        ((extract(epoch from observation.last_updated) * 1000000)::bigint)::text
	   from (select site_id, value, patient_id from patient_identifier where site_id = any($1::uuid[]) and system = '${pairSystem}') patient
	   full join (select site_id, patient_id, last_updated, resource::jsonb #>> '{identifier,0,value}' as value from observation
	               where site_id = any($1::uuid[]) and resource like '%"${pairSystem}"%') observation
	     on observation.site_id = patient.site_id and observation.value = patient.value and observation.patient_id = patient.patient_id`,
	// Every version of a patient that is changed over and over.
	`select substring(resource from '"family":"([^"]+)"'), version::text from patient where site_id = any($1::uuid[]) and given_id is not null
	  union all
	 select substring(resource from '"family":"([^"]+)"'), version::text from resource_history
	  where site_id = any($1::uuid[]) and resource_type = 'Patient' and given_id is not null`,
	// A step with both of its reports, each once.
	`select sop_instance_uid || case when reports = 2 then '' else ' (' || reports || ' reports)' end,
	        ((extract(epoch from updated_at) * 1000000)::bigint)::text
	   from mpps_session where site_id = any($1::uuid[]) and status = 'COMPLETED'`,
];

/** The work of ledger clients as it is found in these sites. */
export async function storedWork(client: pg.Client, sites: readonly string[]): Promise<StoredWork[]> {
	const stored: StoredWork[] = [];
	for (const text of found) {
		const { rows } = await client.query<[string, string | null]>({ text, values: [sites], rowMode: 'array' });
		for (const [key, position] of rows) stored.push({ key, position: BigInt(position ?? 0) });
	}
	return stored;
}
