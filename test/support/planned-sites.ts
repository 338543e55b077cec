import { resources } from '#fhir/resources/index.ts';
import type { TableShape } from '#record/table-shape.ts';

/**
 * Statements that fill a database for plans: three sites of equal size, with random values in every column that searches use. Resources have
 * a text that only a plan sees, and terms that nothing has asked for.
 */
export function seedOf(patients: number): string[] {
	const own = Object.values(resources).filter(({ table }) => !table.isShared && table.renderedFrom === undefined);
	const first = Object.values(resources).find(({ table }) => table.isShared);
	return [
		"set synchronous_commit = off; set work_mem = '64MB'; set jit = off",
		...own.map(({ table, type }) => rowsOf(table, type, ['Patient', 'Observation'].includes(type) ? patients : patients >> 1)),
		...(first === undefined ? [] : [sharedRows(first.table, patients >> 1)]),
		`insert into patient_identifier (site_id, value, system, patient_id, old, rank) select site_id, md5(id::text), 'urn:mrn', id, false, 0 from patient`,
		studies(patients >> 1),
		'drop index search_entry_terms',
		...own.map(({ table, type }) => entriesOf(table.keptIn, `'${type}'`)),
		entriesOf('other_resource', 'resource_type'),
		'create index search_entry_terms on search_entry using gin (site_id, terms) with (fastupdate = off)',
		`insert into search_progress (site_id, resource_type, until, definition) select distinct site_id, resource_type, timestamptz '2026-06-01', '' from search_entry`,
		'analyze',
	];
}

/** The type of which the shared table has rows. */
export const plannedType = 'Claim';

const site = `('00000000-0000-4000-8000-00000000000' || n % 3 + 1)::uuid`;
const id = (from = 'n') => `('00000000-0000-4000-9000-' || lpad((${from})::text, 12, '0'))::uuid`;
const moment = `timestamptz '1950-01-01' + (n * 7919 % 29000) * interval '1 day'`;
const common = `${site}, ${id()}, 1, timestamptz '2020-01-01' + n * interval '1 minute', 'urn:m:' || n, repeat(md5(n::text), 12)`;

function sampleOf(name: string, sqlType: string): string {
	if (sqlType === 'timestamptz') return name.endsWith('_end') ? `${moment} + interval '1 hour'` : moment;
	if (sqlType === 'date') return name.endsWith('_end') ? `(${moment})::date + 1` : `(${moment})::date`;
	if (sqlType === 'uuid')
		return name === 'merged_into' ? `case when n % 20 = 0 then ${id('n - 3')} end` : `case when n % 2 = 0 then ${id('n * 31 % 20000')} end`;
	if (sqlType === 'bigint[]') return terms;
	if (sqlType === 'text[]') return "case when n % 3 = 0 then array['urn:lab|L' || n % 500, 'urn:lab|', 'L' || n % 500] end";
	if (sqlType === 'integer') return 'n';
	if (sqlType === 'boolean') return 'false';
	if (name === 'strings' || name === 'name') return "md5(n::text) || ' smith'";
	if (name === 'date_values') return 'null';
	if (name.endsWith('_system')) return "'http://loinc.org'";
	if (name.endsWith('_value')) return "'c' || n % 300";
	if (/status|class|gender/.test(name)) return "case when n % 50 = 0 then 'v' || n % 700 else 'usual' end";
	return "'x' || n % 5000";
}

/** Some that most rows have, fewer and fewer others, and some that one has. */
const terms =
	'array(select case when k < 4 then k else power(2, (hashint8extended((n::bigint << 8) + k, 0) & 1023) / 45.0)::bigint end from generate_series(1, 10) k)';

function rowsOf({ keptIn, links, search }: TableShape, type: string, count: number): string {
	const columns = [...links, ...search].filter(({ name }) => name !== 'patient_id');
	const patient = type === 'Patient' ? [] : ['patient_id'];
	return `insert into ${keptIn} (site_id, id, version, last_updated, source, resource, ${[...patient, ...columns.map(({ name }) => name)].join(', ')})
		select ${[common, ...patient.map(() => id(`n % ${Math.max(3, count >> 1)} + 1`)), ...columns.map(({ name, sqlType }) => sampleOf(name, sqlType))].join(', ')}
		from generate_series(1, ${count}) n on conflict do nothing`;
}

/** All of one type: in a plan it stands for each of the types that share the table. */
function sharedRows({ keptIn }: TableShape, count: number): string {
	const dates = [1, 2, 3].flatMap((index) => [`date${index}_start`, `date${index}_end`]);
	return `insert into ${keptIn} (site_id, id, version, last_updated, source, resource, resource_type, patient_id, terms, strings, ${dates.join(', ')})
		select ${common}, '${plannedType}', case when n % 2 = 0 then ${id('n * 31 % 20000')} end, ${terms}, md5(n::text) || ' smith', ${dates.map((name) => sampleOf(name, 'timestamptz')).join(', ')}
		from generate_series(1, ${count}) n`;
}

function entriesOf(table: string, type: string): string {
	return `insert into search_entry (site_id, resource_type, id, terms) select site_id, ${type}, id, ${terms.replace('(n::bigint << 8)', "(('x' || right(id::text, 8))::bit(32)::bigint << 8)")} from ${table}`;
}

function studies(count: number): string {
	return `insert into imaging_study (site_id, study_uid, id, patient_id, started, accession_number, accession_issuer, modalities, sop_classes, series_count, instance_count, bytes, created_at, updated_at)
		select ${site}, '1.2.' || n, ${id()}, ${id(`n % ${count >> 1} + 1`)}, to_char(${moment}, 'YYYY-MM-DD"T"HH24:MI:SS'), 'A' || n, 'RIS',
			array[case when n % 1000 = 0 then 'NM' else 'CT' end], array['1.2.840.10008.5.1.4.1.1.' || case when n % 1000 = 0 then 20 else 2 end], 1, 1, 1, now(), timestamp '2020-01-01' + n * interval '1 minute'
		from generate_series(1, ${count}) n;
	insert into imaging_series (site_id, study_uid, series_uid, modality, instance_count) select site_id, study_uid, study_uid || '.1', modalities[1], 1 from imaging_study;
	insert into imaging_instance (site_id, sop_instance_uid, study_uid, series_uid, sop_class_uid, transfer_syntax_uid, digest, bytes, object_key, calling_ae, source, stored_at)
		select site_id, study_uid || '.1.1', study_uid, study_uid || '.1', sop_classes[1], '1.2', '', 1, '', '', '', now() from imaging_study`;
}
