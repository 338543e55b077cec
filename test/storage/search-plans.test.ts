import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { definitionOf, tableShapes } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { lastObservationsQuery } from '#storage/statements/last-observations.ts';
import { readRowsStatement } from '#storage/statements/read-rows.ts';
import { searchQuery } from '#storage/statements/search-resources.ts';
import { type SystemHistoryPage, systemHistoryQuery } from '#storage/statements/system-versions.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { nodesOf, type PlanNode } from '#test/support/plan.ts';
import { defaultLimits } from '../../src/limits.ts';

const siteId = newId();
const subjectId = '00000000-0000-0000-0000-000000000007';
let database: TestDatabase;
let client: pg.Client;

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
	await client.query(seed.replaceAll(':site', `'${siteId}'`));
});

after(async () => {
	await client.end();
	await database[Symbol.asyncDispose]();
});

/** One site that holds nearly all rows, so that a walk through the site is as dear as one through the table. */
const seed = `
insert into patient (site_id, id, version, last_updated, resource, name, birth_date, birth_date_end, gender)
select :site, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, 1, now(), repeat(md5(n::text), 24), md5(n::text) || ' smith',
	date '1930-01-01' + n % 30000, date '1930-01-02' + n % 30000, case when n % 1000 = 0 then 'other' when n % 2 = 0 then 'male' else 'female' end
from generate_series(1, 20000) n;
insert into patient_identifier (site_id, value, system, patient_id, old, rank)
select :site, n::text, 'urn:mrn', ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, false, 0 from generate_series(1, 20000) n;
insert into observation (site_id, id, version, last_updated, resource, patient_id, status, code_system, code_value, code_further)
select :site, ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid, 1, now(), '{}',
	('00000000-0000-0000-0000-' || lpad((n % 2000)::text, 12, '0'))::uuid, 'final', 'http://loinc.org', (n % 300)::text,
	case when n % 3 = 0 then array['urn:lab|L' || n % 500, 'urn:lab|', 'L' || n % 500] end
from generate_series(1, 30000) n;
insert into encounter (site_id, id, version, last_updated, resource, patient_id, visit_key, status)
select :site, ('00000000-0000-0000-0002-' || lpad(n::text, 12, '0'))::uuid, 1, now(), '{}',
	('00000000-0000-0000-0000-' || lpad((n % 5000)::text, 12, '0'))::uuid, md5(n::text)::uuid, 'finished'
from generate_series(1, 20000) n;
insert into condition (site_id, id, version, last_updated, resource, patient_id, clinical_status, code_value)
select :site, ('00000000-0000-0000-0003-' || lpad(n::text, 12, '0'))::uuid, 1, now() - n * interval '1 minute', '{}',
	('00000000-0000-0000-0000-' || lpad((n % 5000)::text, 12, '0'))::uuid, case when n % 1000 = 0 then 'inactive' else 'active' end, (n % 300)::text
from generate_series(1, 20000) n;
insert into allergy_intolerance (site_id, id, version, last_updated, resource, patient_id, clinical_status, code_value)
select site_id, id, version, last_updated, resource, patient_id, clinical_status, code_value from condition;
insert into procedure (site_id, id, version, last_updated, resource, patient_id, status, code_value)
select site_id, id, version, last_updated, resource, patient_id, 'completed', code_value from condition;
insert into document_reference (site_id, id, version, last_updated, resource, patient_id, status, code_value)
select site_id, id, version, last_updated, resource, patient_id, 'current', code_value from condition;
insert into diagnostic_report (site_id, id, version, last_updated, resource, patient_id, status, code_value)
select site_id, id, version, last_updated, resource, patient_id, case when clinical_status = 'inactive' then 'preliminary' else 'final' end, code_value
from condition;
insert into imaging_study (site_id, study_uid, id, patient_id, started, accession_number, accession_issuer, modalities, sop_classes, series_count,
	instance_count, bytes, created_at, updated_at)
select :site, '1.2.' || n, ('00000000-0000-0000-0004-' || lpad(n::text, 12, '0'))::uuid, ('00000000-0000-0000-0000-' || lpad((n % 5000)::text, 12, '0'))::uuid,
	to_char(timestamp '2000-01-01' + n * interval '5 hours', 'YYYY-MM-DD"T"HH24:MI:SS'), 'A' || n, 'RIS', array[case when n % 1000 = 0 then 'NM' else 'CT' end],
	array['1.2.840.10008.5.1.4.1.1.' || case when n % 1000 = 0 then 20 else 2 end], 1, 1, 1, now(), timestamp '2020-01-01' + n * interval '1 minute'
from generate_series(1, 20000) n;
insert into imaging_series (site_id, study_uid, series_uid, modality, instance_count) select site_id, study_uid, study_uid || '.1', modalities[1], 1 from imaging_study;
insert into imaging_instance (site_id, sop_instance_uid, study_uid, series_uid, sop_class_uid, transfer_syntax_uid, digest, bytes, object_key, calling_ae, source, stored_at)
select site_id, study_uid || '.1.1', study_uid, study_uid || '.1', sop_classes[1], '1.2', '', 1, '', '', '', now() from imaging_study;
update patient set last_updated = now() - interval '1 minute' * ('x' || right(id::text, 4))::bit(16)::int;
insert into search_progress (site_id, resource_type, until, definition) values (:site, 'Observation', 'infinity', 'd'), (:site, 'Encounter', 'infinity', 'd');
insert into search_entry (site_id, resource_type, id, terms) select site_id, 'Observation', id, array[('x' || left(md5(id::text), 8))::bit(32)::bigint] from observation;
analyze;
`;

async function planNodes(mode: 'generic' | 'custom', text: string, values: readonly unknown[]): Promise<PlanNode[]> {
	await client.query(`set plan_cache_mode = force_${mode}_plan`);
	await client.query(`prepare explained as ${text}`);
	const literals = values.map((value) =>
		Array.isArray(value) ? client.escapeLiteral(`{${value.join(',')}}`) : client.escapeLiteral(String(value)),
	);
	const { rows } = await client.query(`explain (format json) execute explained (${literals.join(', ')})`);
	await client.query('deallocate explained');
	return nodesOf(rows[0]['QUERY PLAN'][0].Plan);
}

function queryOf(query: string) {
	const [type = '', parameters = ''] = query.split('?');
	const definition = definitionOf(type) ?? assert.fail(`${type} is not defined`);
	const { plan } = parseSearch(definition, parameters, { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined });
	return searchQuery(siteId, { ...plan, after: undefined }, defaultLimits.searchBytesMax);
}

describe('searches of the specification read an index, with values known and unknown to the planner', () => {
	const cases: [string, string][] = [
		['Patient?', 'patient_pkey'],
		['Patient?identifier=urn:mrn|4711', 'patient_identifier_pkey'],
		['Patient?identifier=4711', 'patient_identifier_pkey'],
		['Patient?identifier=4711,4712', 'patient_identifier_pkey'],
		['Patient?name=abcdef', 'patient_grams'],
		['Patient?name=abcdéf', 'patient_grams'],
		['Patient?family=abcdéf', 'patient_grams'],
		['Patient?birthdate=1950-03-01', 'patient_birth_date'],
		['Patient?birthdate=1950-03', 'patient_birth_date'],
		['Patient?gender=other', 'patient_gender'],
		['Patient?gender=male', 'patient_gender'],
		[`Observation?patient=Patient/${subjectId}`, 'observation_patient'],
		[`Observation?patient=Patient/${subjectId}&code=7`, 'observation_patient'],
		['Observation?code=7', 'observation_code'],
		['Observation?code=urn:lab|L7', 'observation_code_second'],
		[`Encounter?patient=${subjectId}`, 'encounter_patient'],
		[`Condition?patient=${subjectId}`, 'condition_patient'],
		['Condition?clinical-status=inactive', 'condition_clinical_status'],
		['Condition?code=7', 'condition_code'],
		[`AllergyIntolerance?patient=${subjectId}`, 'allergy_intolerance_patient'],
		['AllergyIntolerance?clinical-status=inactive', 'allergy_intolerance_clinical_status'],
		['AllergyIntolerance?code=7', 'allergy_intolerance_code'],
		[`Procedure?patient=${subjectId}`, 'procedure_patient'],
		['Procedure?code=7', 'procedure_code'],
		[`DocumentReference?patient=${subjectId}`, 'document_reference_patient'],
		['DocumentReference?type=7', 'document_reference_code'],
		[`DiagnosticReport?patient=${subjectId}`, 'diagnostic_report_patient'],
		['DiagnosticReport?status=preliminary', 'diagnostic_report_status'],
		['ImagingStudy?', 'imaging_study_id'],
		['ImagingStudy?_id=00000000-0000-0000-0004-000000000007', 'imaging_study_id'],
		[`ImagingStudy?patient=Patient/${subjectId}`, 'imaging_study_patient'],
		[`ImagingStudy?subject=${subjectId}&modality=CT`, 'imaging_study_patient'],
		['ImagingStudy?patient.identifier=urn:mrn|1711', 'imaging_study_patient'],
		['ImagingStudy?identifier=urn:dicom:uid|urn:oid:1.2.7', 'imaging_study_pkey'],
		['ImagingStudy?identifier=A7', 'imaging_study_accession'],
		['ImagingStudy?identifier=urn:id:RIS|A7,urn:oid:1.2.8', 'imaging_study_accession'],
		['ImagingStudy?accession=A7', 'imaging_study_accession'],
		['ImagingStudy?accession=urn:id:RIS|A7', 'imaging_study_accession'],
		['ImagingStudy?modality=NM', 'imaging_study_classes'],
		['ImagingStudy?dicom-class=urn:oid:1.2.840.10008.5.1.4.1.1.20', 'imaging_study_classes'],
		['ImagingStudy?series=1.2.7.1', 'imaging_series_uid'],
		['ImagingStudy?instance=1.2.7.1.1', 'imaging_instance_pkey'],
		['ImagingStudy?started=2005-03-01', 'imaging_study_started_from'],
		['ImagingStudy?started=ge2011-05', 'imaging_study_started_from'],
		['ImagingStudy?started=gt2011-05-01', 'imaging_study_started_from'],
		['ImagingStudy?started=lt2000-01-02', 'imaging_study_started_from'],
		['ImagingStudy?started=eb2000-01-02', 'imaging_study_started_from'],
		['ImagingStudy?started=le2000-01-02', 'imaging_study_started_from'],
		['ImagingStudy?_sort=-started', 'imaging_study_started_from'],
		['ImagingStudy?_lastUpdated=gt2999', 'imaging_study_changes'],
		['Patient?_lastUpdated=gt2999', 'patient_changes'],
		['Patient?_sort=-_lastUpdated', 'patient_changes'],
		['Patient?_sort=_lastUpdated', 'patient_changes'],
		['Patient?_sort=birthdate', 'patient_birth_date'],
		['Patient?_sort=-birthdate', 'patient_birth_date'],
		[`Observation?patient=${subjectId}&code=7&_sort=-date`, 'observation_patient'],
		['Patient?family=abcdef', 'patient_grams'],
		['Observation?patient.identifier=urn:mrn|1711', 'observation_patient'],
		['Patient?_has:Condition:patient:clinical-status=inactive', 'condition_clinical_status'],
		['Observation?code-value-quantity=7$gt5', 'observation_code'],
	];
	for (const [query, index] of cases) {
		test(query.replace(subjectId, '<id>'), async () => {
			const { statement, values } = queryOf(query);
			// What is not prepared is always planned with its values.
			for (const mode of statement.name === undefined ? (['custom'] as const) : (['custom', 'generic'] as const)) {
				const nodes = await planNodes(mode, statement.text, values);
				const scans = nodes.filter((node) => node['Node Type'].includes('Scan'));
				assert.deepEqual(
					// Nothing is read of the table of written studies, which is empty here. The progress of a site is a handful of rows.
					scans.filter(
						(node) =>
							node['Node Type'] === 'Seq Scan' &&
							!['written_imaging_study', 'search_progress', 'site'].includes(node['Relation Name'] ?? ''),
					),
					[],
					mode,
				);
				assert.ok(
					scans.some((node) => node['Index Name'] === index),
					`${mode}: ${JSON.stringify(scans.map((node) => node['Index Name']))}`,
				);
			}
		});
	}

	test('a read by id', async () => {
		const nodes = await planNodes('generic', readRowsStatement('patient').text, [[siteId], [subjectId]]);
		assert.deepEqual(
			nodes.map((node) => node['Index Name']).filter((name) => name !== undefined),
			['patient_pkey'],
		);
	});
});

test('the last observations of a patient are found by the index of the patient', async () => {
	const definition = definitionOf('Observation') ?? assert.fail();
	const options = { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined };
	for (const query of ['patient=7&category=laboratory', 'patient=7&category=laboratory&code=1,2,3,4,5', 'patient.identifier=7&code=1']) {
		const { plan } = parseSearch(definition, query, options);
		const { statement, values } = lastObservationsQuery(siteId, plan, 1, 1000);
		const nodes = await planNodes('custom', statement.text, values);
		assert.ok(
			nodes.some((node) => node['Index Name'] === 'observation_patient'),
			query,
		);
		assert.ok(!nodes.some((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'observation'), query);
	}
});

test('the history of all types walks the changes of each type, and no further than a page', async () => {
	await client.query(
		`insert into other_resource (site_id, resource_type, id, version, last_updated, resource, deleted)
		select $1, case n % 3 when 0 then 'Task' when 1 then 'Basic' else 'List' end, ('00000000-0000-0000-0005-' || lpad(n::text, 12, '0'))::uuid, 2,
			now() - n * interval '1 minute', case when n % 9 = 0 then 'null' else '{}' end, n % 9 = 0
		from generate_series(1, 20000) n`,
		[siteId],
	);
	await client.query(
		`insert into resource_history (site_id, resource_type, id, version, last_updated, resource)
		select site_id, resource_type, id, 1, last_updated - interval '1 second', '{}' from other_resource`,
	);
	await client.query('analyze other_resource, resource_history');
	const position = { lastUpdated: '2026-01-01T00:00:00Z', id: subjectId, version: 1, type: 'Patient' };
	const shapes = Object.values(tableShapes);
	const [stored, rendered] = [false, true].map((isRendered) =>
		shapes.filter(({ renderedFrom }) => (renderedFrom !== undefined) === isRendered),
	);
	for (const after of [undefined, position]) {
		const indexes = async (page: Pick<SystemHistoryPage, 'shapes' | 'notBefore'>) => {
			const { statement, values } = systemHistoryQuery(siteId, { since: undefined, after, count: 50, ...page });
			const nodes = await planNodes('custom', statement.text, values);
			const walked = nodes.filter(({ 'Node Type': kind }) => kind === 'Seq Scan').map((node) => node['Relation Name'] ?? '');
			// Partitions without rows are read as they are.
			const whole = walked.filter((name) => name !== 'written_imaging_study' && !name.startsWith('resource_history_'));
			assert.deepEqual(whole, []);
			return nodes.map((node) => node['Index Name'] ?? '');
		};
		const ofStored = await indexes({ shapes: stored ?? [] });
		for (const table of ['patient', 'observation', 'encounter', 'condition', 'other_resource'])
			assert.ok(ofStored.includes(`${table}_changes`), `${table}: ${ofStored.join()}`);
		assert.ok(ofStored.includes('other_resource_deletions'), ofStored.join());
		assert.ok(
			ofStored.some((name) => /^resource_history_.*(?:changes|last_updated)/.test(name)),
			ofStored.join(),
		);
		const ofRendered = await indexes({ shapes: rendered ?? [], notBefore: '2999-01-01' });
		assert.ok(ofRendered.includes('imaging_study_changes'), ofRendered.join());
	}
});
