import type { Clause } from '#record/search-plan.ts';
import type { ResourceType, TableShape } from '#record/table-shape.ts';
import { Parameters, type Query } from './parameters.ts';
import { relation, relationOfAll, relationOfDeleted } from './relation.ts';
import { boundedQuery, earlierColumns, innerColumns, rowColumns } from './row-columns.ts';
import { whereOf } from './search-conditions.ts';

/** Builds the query of one version: the current one is in the type's own table, earlier ones, if they are kept, are in the history. */
export function versionQuery(siteId: string, table: string, type: ResourceType, rowId: string, version: number): Query {
	const parameters = new Parameters(siteId);
	const id = parameters.add(rowId, 'uuid');
	const number = parameters.add(version, 'integer');
	const text = `
select ${rowColumns(table)} from ${relationOfAll(table)} r where r.site_id = $1 and r.id = ${id} and r.version = ${number}
union all
select ${rowColumns('resource_history')} from resource_history r where r.site_id = $1 and r.resource_type = '${type}' and r.id = ${id} and r.version = ${number}`;
	return parameters.query(text, true);
}

/** The position at which a page of a history ended. */
export interface VersionPosition {
	/** The time in PostgreSQL's text form. */
	lastUpdated: string;
	id: string;
	version: number;
}

export interface HistoryPage {
	/** The row of one resource, or undefined for the whole type. */
	rowId: string | undefined;
	/** FHIR instant. */
	since: string | undefined;
	after: VersionPosition | undefined;
	count: number;
	bytesMax: number;
}

/** Selects versions, newest first, one more than the page holds. The values of a position follow the columns of the row. */
export function historyQuery(siteId: string, table: string, type: ResourceType, page: HistoryPage): Query {
	const parameters = new Parameters(siteId);
	const limit = parameters.add(page.count + 1, 'integer');
	const conditions: string[] = [];
	if (page.rowId !== undefined) conditions.push(`r.id = ${parameters.add(page.rowId, 'uuid')}`);
	if (page.since !== undefined) conditions.push(`r.last_updated >= ${parameters.add(page.since, 'timestamptz')}`);
	if (page.after) {
		const { lastUpdated, id, version } = page.after;
		const position = [parameters.add(lastUpdated, 'timestamptz'), parameters.add(id, 'uuid'), parameters.add(version, 'integer')];
		conditions.push(`(r.last_updated, r.id, r.version) < (${position.join(', ')})`);
	}
	const where = conditions.map((condition) => ` and ${condition}`).join('');
	const order = (row: string) => `${row}.last_updated desc, ${row}.id desc, ${row}.version desc`;
	const newestOf = (columns: string, from: string, further = '') =>
		`(select ${columns} from ${from} r where r.site_id = $1${further}${where} order by ${order('r')} limit ${limit})`;
	const deleted = relationOfDeleted(table);
	const inner = [
		newestOf(innerColumns(table), relation(table)),
		// Each of the two has an index of its own.
		...(deleted === undefined ? [] : [newestOf(innerColumns(table), deleted)]),
		newestOf(earlierColumns(table), 'resource_history', ` and r.resource_type = '${type}'`),
	].join(' union all ');
	const newest = `select * from (${inner}) r where r.site_id = $1 order by ${order('r')} limit ${limit}`;
	const bytesMax = parameters.add(page.bytesMax, 'bigint');
	const text = boundedQuery({ table, further: 'r.found, r.last_updated::text, r.id, r.version', inner: newest, order, bytesMax });
	return parameters.query(text, true);
}

export interface CompartmentPage {
	/** Row id. */
	patientId: string;
	/** Tells what belongs to the patient, where a resource may belong to several; absent: what is recorded under the patient. */
	membership?: Clause | undefined;
	since: string | undefined;
	/** Conditions beside the patient. */
	clauses: readonly Clause[];
	afterId: string;
	count: number;
	bytesMax: number;
}

/** Rows of a table that belong to a patient, in the order of their ids, one more than asked for. */
export function compartmentQuery(siteId: string, { table, compartment }: TableShape, page: CompartmentPage): Query {
	const parameters = new Parameters(siteId);
	const column = compartment === 'self' ? 'id' : 'patient_id';
	const member =
		page.membership === undefined ? `r.${column} = ${parameters.add(page.patientId, 'uuid')}` : whereOf([page.membership], 'r', parameters);
	const after = parameters.add(page.afterId, 'uuid');
	const since = page.since === undefined ? '' : ` and r.last_updated >= ${parameters.add(page.since, 'timestamptz')}`;
	const limit = parameters.add(page.count + 1, 'integer');
	const where = whereOf(page.clauses, 'r', parameters);
	const inner = `select ${innerColumns(table)} from ${relation(table)} r where ${where} and ${member} and r.id > ${after}${since} order by r.id limit ${limit}`;
	const bytesMax = parameters.add(page.bytesMax, 'bigint');
	const text = boundedQuery({ table, further: 'r.found, r.id', inner, order: (row) => `${row}.id`, bytesMax });
	return parameters.query(text, page.clauses.length === 0 && page.membership === undefined);
}
