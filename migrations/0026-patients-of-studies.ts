import { Migration } from '@mikro-orm/migrations';

/**
 * A study is stored without a patient while there is a doubt about who that is, and people put studies and images right.
 *
 * Locks: imaging_study, imaging_instance and imaging_conflict for the moment in which the columns are added; imaging_study is read once for
 * its index, some seconds for ten million studies, while images wait. What the images of stored studies stated about their patients is not
 * known: the columns stay empty, and such a study is linked by a person.
 */
export class PatientsOfStudies extends Migration {
	override up(): void {
		this.addSql(columns);
		this.addSql(edits);
	}
}

const columns = `
alter table imaging_study
	-- What the images of a study without a patient state: Patient ID, the system of its issuer or of the default authority, the name.
	add column stated_patient_id text,
	add column stated_patient_system text,
	add column stated_patient_name text,
	-- Patients from whom a person took the study. Images that still name one of them belong to it.
	add column former_patient_ids uuid[],
	-- The Study Instance UID that the images state, if the study was split off from that one.
	add column split_from text;
create index imaging_study_unmatched on imaging_study (site_id, stated_patient_id)
	where patient_id is null and stated_patient_id is not null;
alter table imaging_instance
	-- The Study Instance UID of its data set, if it was filed under another study.
	add column stated_study_uid text;
alter table imaging_conflict
	-- Null: other content under the UID. 'other-patient': the image names another patient than its study has.
	add column kind text,
	add column stated_patient_id text,
	add column stated_patient_system text,
	add column stated_patient_name text;
`;

const edits = `
create table study_edit (
	site_id uuid not null,
	-- The id of the message that carried it out.
	id uuid not null,
	operation text not null,
	study_uid text not null,
	-- The other study of a move or split.
	other_study_uid text,
	-- Row ids of the patients of the study before and after.
	from_patient_id uuid,
	to_patient_id uuid,
	-- The instances that a move or split took along.
	sop_instance_uids text[],
	edited_at timestamptz not null,
	edited_by text not null,
	undone_at timestamptz,
	undone_by text,
	primary key (site_id, id)
);
create index study_edit_study on study_edit (site_id, study_uid, id);
create index study_edit_other on study_edit (site_id, other_study_uid, id) where other_study_uid is not null;
`;
