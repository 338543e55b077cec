import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import {
	sharedNumbers,
	timelineIdentities,
	timelineMessages,
	timelineReports,
	timelineResults,
	timelineSteps,
	timelineStudies,
	timelineVisits,
} from '#storage/statements/administrative/read-timeline.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { nodesOf, readParents } from '#test/support/plan.ts';

const siteId = newId();
const patientId = '00000000-0000-0000-0000-000000000007';

/** 2,000 patients with ten of everything each. */
const seed = `
insert into site (id, slug, name) values (:site, 'west', 'West');
insert into patient (site_id, id, version, last_updated, resource)
select :site, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, 1, now(), '{"birthDate":"1950-01-01"}' from generate_series(1, 2000) n;
insert into patient_identifier (site_id, value, system, patient_id, old, rank)
select :site, 'P' || n, 'urn:mrn', ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, false, 0 from generate_series(1, 2000) n;
insert into observation (site_id, id, version, last_updated, resource, patient_id, status, effective_start)
select :site, gen_random_uuid(), 1, now(), '{}', ('00000000-0000-0000-0000-' || lpad((n % 2000 + 1)::text, 12, '0'))::uuid, 'final', timestamptz '2026-01-01' + n * interval '1 minute'
from generate_series(1, 20000) n;
insert into diagnostic_report (site_id, id, version, last_updated, resource, patient_id, status, effective_start)
select site_id, id, version, last_updated, resource, patient_id, status, effective_start from observation;
insert into encounter (site_id, id, version, last_updated, resource, patient_id, status, period_start)
select site_id, id, version, last_updated, resource, patient_id, 'finished', effective_start from observation;
insert into imaging_study (site_id, study_uid, id, patient_id, started, modalities, series_count, instance_count, bytes, created_at, updated_at)
select site_id, '2.999.' || row_number() over (), id, patient_id, '2026-01-01T10:00:00', '{CT}', 1, 1, 1, last_updated, last_updated from observation;
insert into mpps_session (site_id, id, sop_instance_uid, study_uid, status, late, attributes, patient_id, started, series_uids, reports, last_digest,
	last_message_id, created_at, updated_at)
select :site, gen_random_uuid(), '2.999.9.' || n, '2.999.' || n, 'COMPLETED', false, '{}', 'P' || (n % 2000 + 1), '2026-01-01', '{}', 1, '', gen_random_uuid(), now(), now()
from generate_series(1, 20000) n;
insert into resource_history (site_id, resource_type, id, version, last_updated, resource)
select :site, 'Patient', p.id, n, now(), '{"gender":"female"}' from patient p cross join generate_series(1, 3) n;
update patient set version = 4;
insert into message_log (site_id, id, sequence, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome, patient, bytes, ack)
select :site, (lpad(to_hex(1767225600000 + n * 1000), 12, '0') || '7000800000000000' || lpad(to_hex(n), 4, '0'))::uuid, n, 'mllp', :site, '', now(), now(),
	'ADT^A08', 'C' || n, 'accepted', 'P' || (n % 2000 + 1), '', '' from generate_series(1, 20000) n;
analyze;
`;

describe('the timeline of a patient', () => {
	let database: TestDatabase;
	let client: pg.Client;
	let parents: ReadonlyMap<string, string>;
	before(async () => {
		database = await testDatabase();
		client = new pg.Client({ connectionString: database.url });
		await client.connect();
		await client.query(seed.replaceAll(':site', `'${siteId}'::uuid`));
		parents = await readParents(client);
	});
	after(async () => {
		await client.end();
		await database[Symbol.asyncDispose]();
	});

	const first = [siteId, patientId, null, null, null, null, null, 5];
	const further = [siteId, patientId, '2026-01-09T00:00:00.000Z', 'step', newId(), '2025-01-01', '2027-01-01', 5];
	const rows: [string, { text: string }, string, unknown[][], number][] = [
		['visits', timelineVisits, 'encounter_patient', [first, further], 5],
		['results', timelineResults, 'observation_patient', [first, further], 5],
		['reports', timelineReports, 'diagnostic_report_patient', [first, further], 5],
		['studies', timelineStudies, 'imaging_study_patient', [first, further], 5],
		['steps', timelineSteps, 'mpps_session_study', [first, further], 5],
		['messages', timelineMessages, 'message_log_patient', [[siteId, patientId, null, null, null, 5]], 5],
		['changes of identity', timelineIdentities, 'resource_history_pkey', [first], 2],
		['shared numbers', sharedNumbers, 'patient_identifier_pkey', [[siteId, patientId]], 0],
	];
	for (const [what, { text }, index, pages, count] of rows) {
		test(`reads ${what} by an index, and no more than this patient's`, async () => {
			for (const [place, values] of pages.entries()) {
				const { rows: found } = await client.query(text, values);
				if (place === 0) assert.equal(found.length, count);
				const explained = await client.query(`explain (analyze, format json) ${text}`, values);
				const nodes = nodesOf(explained.rows[0]['QUERY PLAN'][0].Plan);
				const read = nodes.map(
					(node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
				);
				assert.ok(Math.max(...read) <= 100, `${Math.max(...read)} rows were read`);
				const used = nodes.flatMap((node) => node['Index Name'] ?? []).map((name) => parents.get(name) ?? name);
				assert.ok(used.includes(index), used.join(', '));
			}
		});
	}
});
