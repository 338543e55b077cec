import type { TableShape } from '#record/table-shape.ts';
import type { Statement } from '../statement.ts';

/**
 * Selects rows recorded under `$3` or under a patient that was merged into it before: those that an unlink returns. A merge moves all rows
 * of
 * `$2`.
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

/** The statements by which a table takes part in a merge or an unlink. */
export interface MoveStatements {
	/** Keeps the current versions. Undefined when earlier versions are not kept. */
	keep: Statement | undefined;
	/** Moves the rows to the other patient, as new versions. */
	move: Statement;
	/** The last of `$1` to `$7` that `move` names. */
	parameters: number;
}

/** Every table whose rows belong to a patient. */
export function moveRows(shapes: readonly TableShape[], reason: 'merge' | 'unlink'): readonly MoveStatements[] {
	const moved = shapes.filter(({ compartment }) => compartment === 'patient');
	// Types that share a table are moved together.
	const tables = new Map(moved.map((shape) => [shape.keptIn, shape]));
	return [...tables.values()].flatMap((shape) => {
		const stored = moveStored(shape, reason);
		return shape.renderedFrom === undefined ? [stored] : [moveRendered(shape.renderedFrom, reason), stored];
	});
}

function moveStored({ keptIn: table, resourceType, isShared }: TableShape, reason: 'merge' | 'unlink'): MoveStatements {
	return {
		keep: {
			name: `keep_${table}_${reason}`,
			text: `
insert into resource_history (site_id, resource_type, id, given_id, version, last_updated, source, meta, resource)
select r.site_id, ${isShared ? 'r.resource_type' : `'${resourceType}'`}, r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, r.resource
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
		parameters: 7,
	};
}

/** Moves rendered rows. Their patient is determined when they are read, and their earlier versions are not kept. */
function moveRendered(table: string, reason: 'merge' | 'unlink'): MoveStatements {
	const text = `
update ${table} r set patient_id = $3::uuid, recorded_patient_id = coalesce(r.recorded_patient_id, r.patient_id), version = r.version + 1,
	updated_at = $4::timestamptz
where ${condition[reason]}`;
	return { keep: undefined, move: { name: `move_${table}_${reason}`, text }, parameters: 4 };
}

/** Moves the statements of documents together with their documents. */
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
