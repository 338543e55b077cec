import type { TableShape } from '#record/table-shape.ts';
import type { ReadStatement } from '../reader.ts';
import { Parameters, type Query } from './parameters.ts';
import type { VersionPosition } from './read-versions.ts';
import { nameOf, relationOfAll } from './relation.ts';
import { earlierColumns, innerColumns, rowBytes, rowColumns } from './row-columns.ts';

/** The position at which a page of the history of all types ended. */
export interface SystemPosition extends VersionPosition {
	type: string;
}

export interface SystemHistoryPage {
	/** The types of which versions are listed. */
	shapes: readonly TableShape[];
	/** FHIR instant. */
	since: string | undefined;
	/** Versions that are older are not on the page: the time of another one in PostgreSQL's text form. */
	notBefore?: string | undefined;
	after: SystemPosition | undefined;
	count: number;
}

/**
 * Selects the newest versions of all types without their content, one more than the page holds: type, row, version, time and size. Each type
 * is walked by its own index as far as the page could reach, so a type with much history does not make the others slower.
 */
export function systemHistoryQuery(siteId: string, { shapes, since, notBefore, after, count }: SystemHistoryPage): Query {
	const parameters = new Parameters(siteId);
	const limit = parameters.add(count + 1, 'integer');
	const from = [since, notBefore]
		.filter((moment) => moment !== undefined)
		.map((moment) => ` and r.last_updated >= ${parameters.add(moment, 'timestamptz')}`)
		.join('');
	const position = after && [
		parameters.add(after.lastUpdated, 'timestamptz'),
		parameters.add(after.id, 'uuid'),
		parameters.add(after.version, 'integer'),
		`${parameters.add(after.type, 'text')} collate "C"`,
	];
	const newest = (type: string, columns: string, relation: string, of: string, bytes: string) => {
		const before = position === undefined ? '' : ` and (r.last_updated, r.id, r.version, ${type} collate "C") < (${position.join(', ')})`;
		const walked = `select ${columns} from ${relation} r where r.site_id = $1${of}${from}${before} order by r.last_updated desc, r.id desc, r.version desc limit ${limit}`;
		return `select ${type} as type, r.site_id, r.id, r.version, r.last_updated, ${bytes} as bytes from (${walked}) r where r.site_id = $1`;
	};
	const listOf = (list: readonly TableShape[]) =>
		parameters.add(
			list.map(({ resourceType }) => resourceType),
			'text[]',
		);
	const sharing = shapes.filter(({ isShared }) => isShared);
	const own = shapes.filter(({ isShared }) => !isShared);
	// A statement has no parameter that it does not use.
	const sharedTypes = sharing.length === 0 ? '' : listOf(sharing);
	const types = listOf(shapes);
	const ofEach = (list: string, query: string) =>
		`select v.* from unnest(${list}) k (type) cross join lateral (${query}) v where v.site_id = $1`;
	const branches = [
		...own.map(({ resourceType, table }) => newest(`'${resourceType}'::text`, innerColumns(table), table, '', rowBytes(table))),
		...[...new Set(sharing.map(({ keptIn }) => keptIn))].flatMap((table) =>
			['not r.deleted', 'r.deleted'].map((which) =>
				ofEach(sharedTypes, newest('k.type', innerColumns(table), table, ` and r.resource_type = k.type and ${which}`, rowBytes(table))),
			),
		),
		ofEach(
			types,
			newest(
				'k.type',
				earlierColumns('resource_history'),
				'resource_history',
				' and r.resource_type = k.type',
				rowBytes('resource_history'),
			),
		),
	];
	const all = branches.map((branch) => `(${branch})`).join('\n\tunion all ');
	const text = `
select v.type, v.id, v.version, v.last_updated::text, v.bytes from (
	${all}
) v where v.site_id = $1 order by v.last_updated desc, v.id desc, v.version desc, v.type collate "C" desc limit ${limit}`;
	return parameters.query(text, false);
}

const statements = new Map<string, ReadStatement>();

/** Selects versions of a type by row, version and time, each with its place in the list. A version may meanwhile have become an earlier one. */
export function versionsStatement({ table, resourceType }: Pick<TableShape, 'table' | 'resourceType'>): ReadStatement {
	let statement = statements.get(table);
	if (statement === undefined) {
		const text = `
select k.place, ${rowColumns(table)}
from unnest($2::uuid[], $3::integer[]) with ordinality as k (id, version, place)
join ${relationOfAll(table)} r on r.site_id = $1 and r.id = k.id and r.version = k.version
union all
select k.place, ${rowColumns('resource_history')}
from unnest($2::uuid[], $3::integer[], $4::timestamptz[]) with ordinality as k (id, version, last_updated, place)
join resource_history r on r.site_id = $1 and r.resource_type = '${resourceType}' and r.id = k.id and r.version = k.version
	and r.last_updated = k.last_updated`;
		statement = { name: `read_${nameOf(table)}_versions`, text };
		statements.set(table, statement);
	}
	return statement;
}

/** Returns those of the types that share a table of which the site has resources; one probe of an index for each. */
export const sharedTypesPresent: ReadStatement = {
	name: 'shared_types_present',
	text: `
select k.type from unnest($2::text[]) k (type)
where exists (select from other_resource r where r.site_id = $1 and r.resource_type = k.type and not r.deleted)`,
};
