import type { Statement } from '../statement.ts';

/** What refers to a patient, and so moves with a merge. */
const referring = [
	{ table: 'encounter', resourceType: 'Encounter' },
	{ table: 'observation', resourceType: 'Observation' },
	{ table: 'condition', resourceType: 'Condition' },
	{ table: 'allergy_intolerance', resourceType: 'AllergyIntolerance' },
	{ table: 'procedure', resourceType: 'Procedure' },
	{ table: 'document_reference', resourceType: 'DocumentReference' },
	{ table: 'diagnostic_report', resourceType: 'DiagnosticReport' },
] as const;

/**
 * Rows recorded under `$3` or under a patient that was merged into it before: what an unlink gives back. On a merge
 * everything of `$2` moves.
 */
const condition = {
	merge: 'r.site_id = $1 and r.patient_id = $2',
	unlink: `r.site_id = $1 and r.patient_id = $2 and r.recorded_patient_id in (
	with recursive own as (
		select $3::uuid as id
		union
		select p.id from own join patient p on p.site_id = $1 and p.merged_into = own.id
	)
	select id from own)`,
} as const;

export interface MoveStatements {
	keep: Statement;
	move: Statement;
}

/** For each referring table: keep the versions as they stand, then point them at the other patient as new versions. */
export function moveRows(reason: 'merge' | 'unlink'): readonly MoveStatements[] {
	return referring.map(({ table, resourceType }) => ({
		keep: {
			name: `keep_${table}_${reason}`,
			text: `
insert into resource_history (site_id, resource_type, id, given_id, version, last_updated, source, meta, resource)
select r.site_id, '${resourceType}', r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, r.resource
from ${table} r where $3::uuid is not null and ${condition[reason]}`,
		},
		move: {
			name: `move_${table}_${reason}`,
			text: `
update ${table} r set
	patient_id = $3,
	recorded_patient_id = coalesce(r.recorded_patient_id, r.patient_id),
	version = r.version + 1,
	last_updated = $4,
	source = $5,
	resource = replace(r.resource, '"Patient/' || $6::text || '"', '"Patient/' || $7::text || '"')
where ${condition[reason]}`,
		},
	}));
}

/** A merge or unlink moves studies too; earlier versions of them are not kept. */
export function moveStudies(reason: 'merge' | 'unlink'): Statement {
	return {
		name: `move_studies_${reason}`,
		text: `
update imaging_study r set patient_id = $3::uuid, recorded_patient_id = coalesce(r.recorded_patient_id, r.patient_id), version = r.version + 1,
	updated_at = $4::timestamptz
where ${condition[reason]}`,
	};
}

/** What documents state goes where they went. */
export const moveDocumentEntries: Readonly<Record<'merge' | 'unlink', Statement>> = {
	merge: {
		name: 'move_document_entries_merge',
		text: 'update document_entry set patient_id = $3::uuid where site_id = $1 and patient_id = $2::uuid',
	},
	unlink: {
		name: 'move_document_entries_unlink',
		text: `
update document_entry e set patient_id = $3::uuid
from document_reference d
where e.site_id = $1 and e.patient_id = $2::uuid and d.site_id = e.site_id and d.id = e.document_id and d.patient_id = $3::uuid`,
	},
};
