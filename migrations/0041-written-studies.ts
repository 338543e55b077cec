import { Migration } from '@mikro-orm/migrations';

/**
 * ImagingStudies that clients write stand in a table of their own. The view of studies shows them beside those that are rendered from the
 * index of images, which are all that have no text. Nothing is carried over: nobody could write them before.
 *
 * A node of release 0.1.0 sees what a newer node wrote with its patient, numbers and start alone.
 *
 * Locks: the view is replaced under an exclusive lock on the view, for a moment. No table that is in use is locked.
 */
export class WrittenStudies extends Migration {
	override up(): void {
		this.addSql(table);
		this.addSql(view);
	}
}

const table = `
create table written_imaging_study (
	site_id uuid not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamptz not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	origin text,
	study_uid text,
	accession_number text,
	accession_system text,
	status text,
	modalities text[],
	sop_classes text[],
	series_uids text[],
	instance_uids text[],
	-- Each identifier as 'value', 'system|' and 'system|value'.
	identifiers text[],
	started_start timestamptz,
	started_end timestamptz,
	primary key (site_id, id)
) with (fillfactor = 90, toast_tuple_target = 8160);
-- Partial, so that a look-up by id takes the primary key even where the planner knows nothing of the table yet.
create index written_imaging_study_patient on written_imaging_study (site_id, patient_id) where patient_id is not null;
create index written_imaging_study_uid on written_imaging_study (site_id, study_uid) where study_uid is not null;
create index written_imaging_study_accession on written_imaging_study (site_id, accession_number) where accession_number is not null;
create index written_imaging_study_started on written_imaging_study (site_id, started_start) where started_start is not null;
create index written_imaging_study_lists on written_imaging_study using gin (site_id, identifiers, series_uids, instance_uids, modalities, sop_classes);
`;

const view = `
create or replace view imaging_study_resource as
select site_id, id, null::text as given_id, version, updated_at as last_updated, null::text as source, null::text as meta, patient_id,
	study_uid, started, started_from as started_start, started_until as started_end, accession_number, accession_system, description,
	referring_physician, modalities, sop_classes, series_count, instance_count, started_offset,
	null::text as resource, null::text as origin, 'available'::text as status, study_uid as rendered_uid, null::text[] as identifiers,
	null::text[] as series_uids, null::text[] as instance_uids
from imaging_study
union all
select site_id, id, given_id, version, last_updated, source, meta, patient_id,
	study_uid, null::text, started_start, started_end, accession_number, accession_system, null::text,
	null::text, modalities, sop_classes, 0, 0, null::text,
	resource, origin, status, null::text, identifiers, series_uids, instance_uids
from written_imaging_study;
`;
