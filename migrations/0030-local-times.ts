import { Migration } from '@mikro-orm/migrations';

/**
 * The message log says by which settings a message was read, and the index of images keeps the offset of its times. Earlier rows have
 * neither: nobody noted what their times were read by, and images lost the offset that their files state. Their times are therefore shown
 * without an hour until their studies are sent again, and found by FHIR searches as they are shown, by their day. Locks: message_log and
 * imaging_series, for a moment; imaging_study is written anew for its derived columns, a second or two for a million studies, and its index
 * is built, while images wait.
 */
export class LocalTimes extends Migration {
	override up(): void {
		this.addSql(columns);
		this.addSql(view);
	}
}

const columns = `
alter table message_log add column settings jsonb;

-- As much of a date or a date and time of the index as is sure: the day alone, where the offset of a time is not known.
create function tributary_sure(value text, stated text) returns text language sql immutable parallel safe
return case when value like '%T%' and stated is null then left(value, 10) else value end;
-- A local time of the index and its offset from UTC (\`+02:00\`, \`Z\`; null for a day, which is taken as one of UTC).
create function tributary_instant(local timestamptz, stated text) returns timestamptz language sql immutable parallel safe
return local - coalesce(nullif(stated, 'Z')::interval, interval '0');

alter table imaging_series add column started_offset text;
alter table imaging_study
	add column started_offset text,
	-- The zone by which the offset was found; null where the files state it.
	add column started_zone text,
	add column started_from timestamptz generated always as
		(tributary_instant(tributary_moment(tributary_sure(started, started_offset)), started_offset)) stored,
	add column started_until timestamptz generated always as
		(tributary_instant(tributary_moment_end(tributary_sure(started, started_offset)), started_offset)) stored;
create index imaging_study_started_from on imaging_study (site_id, started_from, id);
`;

const view = `
create or replace view imaging_study_resource as
select site_id, id, null::text as given_id, version, updated_at as last_updated, null::text as source, null::text as meta, patient_id,
	study_uid, started, started_from as started_start, started_until as started_end, accession_number, accession_system, description,
	referring_physician, modalities, sop_classes, series_count, instance_count, started_offset
from imaging_study;
`;
