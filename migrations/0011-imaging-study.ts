import { Migration } from '@mikro-orm/migrations';

/**
 * What FHIR ImagingStudy is read and searched by. Locks: the three derived columns rewrite imaging_study, a second or two for
 * a million studies, while images wait; so do the indexes, which are of studies and series, not of instances.
 */
export class ImagingStudy extends Migration {
	override up(): void {
		this.addSql(functions);
		this.addSql(columns);
		this.addSql(indexes);
		this.addSql(view);
	}
}

const functions = `
-- A DICOM date or date and time, as the index holds it, taken as UTC; and the first moment after it.
create function tributary_moment(value text) returns timestamptz language sql immutable strict parallel safe
return value::timestamp at time zone 'UTC';
create function tributary_moment_end(value text) returns timestamptz language sql immutable strict parallel safe
return (value::timestamp + case when value like '%T%' then interval '1 second' else interval '1 day' end) at time zone 'UTC';

-- RFC 3986 §2.1: each character that the pattern does not keep by its bytes.
create function tributary_percent_encoded(value text, kept text) returns text language sql immutable strict parallel safe
return (
	select string_agg(case
		when c ~ kept collate "C" then c
		else regexp_replace(upper(encode(convert_to(c, 'UTF8'), 'hex')), '(..)', '%\\1', 'g') end, '' order by place)
	from regexp_split_to_table(value, '') with ordinality as t (c, place));

-- An issuer as the system of an identifier, by the rules of HL7 v2 authorities (src/hl7v2/segments/datatypes/hd.ts).
create function tributary_authority(issuer text) returns text language sql immutable strict parallel safe
return case
	when issuer ~ '^[0-2](\\.(0|[1-9][0-9]*))+$' then 'urn:oid:' || issuer
	when issuer ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then 'urn:uuid:' || lower(issuer)
	when issuer ~ '^(https?://|urn:)'
		then tributary_percent_encoded(issuer, '[^\\s\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]')
	else 'urn:id:' || tributary_percent_encoded(issuer, '[A-Za-z0-9_.!~*''()-]')
	end;
`;

const columns = `
alter table imaging_study
	add column version integer not null default 1,
	-- Different SOP classes of the instances.
	add column sop_classes text[] not null default '{}',
	add column started_start timestamptz generated always as (tributary_moment(started)) stored,
	add column started_end timestamptz generated always as (tributary_moment_end(started)) stored,
	add column accession_system text generated always as (tributary_authority(accession_issuer)) stored;
update imaging_study t set sop_classes = i.classes
from (select site_id, study_uid, array_agg(distinct sop_class_uid order by sop_class_uid) as classes from imaging_instance group by 1, 2) i
where i.site_id = t.site_id and i.study_uid = t.study_uid;
`;

/**
 * A further instance changes counts and \`updated_at\` of its study. No B-tree has them, so that the row is updated in place
 * and no index is written (BRIN allows that from PostgreSQL 16 on).
 */
const indexes = `
create unique index imaging_study_id on imaging_study (site_id, id);
create index imaging_study_started on imaging_study (site_id, started_start, id);
create index imaging_study_classes on imaging_study using gin (site_id, modalities, sop_classes);
create index imaging_study_changes on imaging_study using brin (site_id, updated_at) with (pages_per_range = 16, autosummarize = on);
create index imaging_series_uid on imaging_series (site_id, series_uid);
`;

const view = `
-- Studies with the columns that the rows of every resource have; the resource itself is rendered by who reads it.
create view imaging_study_resource as
select site_id, id, null::text as given_id, version, updated_at as last_updated, null::text as source, null::text as meta, patient_id,
	study_uid, started, started_start, started_end, accession_number, accession_system, description, referring_physician, modalities,
	sop_classes, series_count, instance_count
from imaging_study;
`;
