import { deletionText } from '#record/stored-resource.ts';
import type { Column, TableShape } from '#record/table-shape.ts';
import type { Statement } from '../statement.ts';
import { isOfType, keyed, nameOf } from './relation.ts';

/** Arrays of arrays do not unnest; a column of arrays travels as its literal. */
const parameterType = (column: Column) => (column.sqlType.endsWith('[]') ? 'text' : column.sqlType);

const columnsOf = ({ links, search }: TableShape) => [...links, ...search];
const expressionOf = (column: Column) => (column.sqlType.endsWith('[]') ? `k.${column.name}::${column.sqlType}` : `k.${column.name}`);
/** No resource has a text of this length: it is `{}`, or has a name and a value. */
const isDeletion = `k.length = ${deletionText.length}`;
const text = `convert_from(substring($9::bytea from k.start for k.length), 'UTF8')`;

/**
 * The rows of one resource type, as both statements take them: `$1` to `$9` are site, id, version, last updated, source,
 * meta, offset, length and the packed texts, `$10` the ids that clients gave; then the links, then the search columns.
 */
function rows(shape: TableShape): { from: string; where: string } {
	const columns = columnsOf(shape);
	const parameters = columns.map((column, index) => `$${index + 11}::${parameterType(column)}[]`);
	const keys = `unnest($1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[], $5::text[], $6::text[], $7::integer[], $8::integer[], $10::text[], ${parameters.join(', ')})`;
	const names = [
		'site_id',
		'id',
		'version',
		'last_updated',
		'source',
		'meta',
		'start',
		'length',
		'given_id',
		...columns.map(({ name }) => name),
	];
	return keyed(shape, keys, names.join(', '));
}

/** Writes new resources. */
export function insertResources(shape: TableShape): Statement {
	const columns = columnsOf(shape);
	return {
		name: `insert_${nameOf(shape.table)}`,
		text: `
insert into ${shape.keptIn} (site_id, ${shape.isShared ? 'resource_type, deleted, ' : ''}id, given_id, version, last_updated, source, meta, resource, ${columns.map(({ name }) => name).join(', ')})
select k.site_id, ${shape.isShared ? `'${shape.resourceType}', ${isDeletion}, ` : ''}k.id, k.given_id, k.version, k.last_updated, k.source, k.meta, ${text}, ${columns.map(expressionOf).join(', ')}
from ${rows(shape).from}`,
	};
}

/** Writes new versions of known resources. Their site's turn excludes every other writer. */
export function updateResources(shape: TableShape): Statement {
	const { from, where } = rows(shape);
	const assignments = columnsOf(shape).map((column) => `${column.name} = ${expressionOf(column)}`);
	// What is brought back is recorded anew, under the patient whom it then names.
	const deletion = `deleted = ${isDeletion}, recorded_patient_id = case when ${isDeletion} then null else r.recorded_patient_id end, `;
	return {
		name: `update_${nameOf(shape.table)}`,
		text: `
update ${shape.keptIn} r set version = k.version, last_updated = k.last_updated, source = k.source, meta = k.meta, resource = ${text},
	${shape.isShared ? deletion : ''}${assignments.join(', ')}
from ${from}
where r.site_id = k.site_id and r.id = k.id${where}`,
	};
}

/** Notes under which patient a row was recorded that now belongs to the survivor of a merge. */
export function recordUnder(shape: TableShape): Statement {
	return {
		name: `record_${nameOf(shape.table)}_under`,
		text: `update ${shape.keptIn} r set recorded_patient_id = $3::uuid where r.site_id = $1 and r.id = $2::uuid${isOfType(shape, 'r')}`,
	};
}
