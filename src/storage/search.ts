import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { ElementInclusion, Inclusion, PagePosition, SearchPlan, TermInclusion } from '#record/search-plan.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import type { ResourceType, TableShape } from '#record/table-shape.ts';
import type { Cell } from './cell.ts';
import type { Reader, ReadStatement } from './reader.ts';
import { textArray } from './statement.ts';
import type { Query } from './statements/parameters.ts';
import {
	type CompartmentPage,
	compartmentQuery,
	type HistoryPage,
	historyQuery,
	type VersionPosition,
	versionQuery,
} from './statements/read-versions.ts';
import {
	countQuery,
	type InclusionBounds,
	inclusionQuery,
	type PageForm,
	rowsQuery,
	searchQuery,
	termInclusionQuery,
} from './statements/search-resources.ts';

/** Cells that every row begins with, as the statements select them. */
const rowCells = 6;

/** A row by its `rowColumns`. */
export function rowOf(cells: readonly Cell[]): StoredResource {
	return {
		id: cells[0] as string,
		version: cells[1] as string,
		lastUpdated: cells[2] as string,
		source: cells[3] ?? null,
		meta: cells[4] ?? null,
		text: cells[5] as string,
	};
}

/** The cell with the text of a row. */
const textCell = rowCells - 1;

/** Returns the rows of a page, and one more where there is one. A shown text that is longer than its share has the database add up how long they all are. */
async function rowsWithin(reader: Reader, shownMax: number, query: (form: PageForm) => Query): Promise<Cell[][]> {
	const run = ({ statement, values }: Query) => reader.run(statement, values);
	const rows = await run(query('short'));
	return rows.some((cells, index) => index < shownMax && cells[textCell] === null) ? run(query('bounded')) : rows;
}

/** The number of rows that were found, of which the page may show fewer. */
function foundAmong(rows: readonly (readonly Cell[])[]): number {
	return Number(rows[0]?.[rowCells] ?? rows.length);
}

export interface FoundPage {
	rows: StoredResource[];
	/** Row ids of `rows`. */
	rowIds: string[];
	/** The position at which the next page begins; undefined when there is none. */
	next: PagePosition | undefined;
}

/**
 * Returns one page of a search within the site. It has at most `plan.count` rows. It has fewer when their texts together would exceed
 * `bytesMax`, but at least one if there is one.
 */
export async function searchResources(reader: Reader, siteId: string, plan: SearchPlan, bytesMax: number): Promise<FoundPage> {
	const rows = await rowsWithin(reader, plan.count, (form) => searchQuery(siteId, plan, bytesMax, form));
	const page = rows.slice(0, plan.count);
	const last = page.at(-1);
	const more = foundAmong(rows) > page.length;
	return {
		rows: page.map(rowOf),
		rowIds: page.map((cells) => cells[rowCells + 1] as string),
		next: more && last ? { id: last[rowCells + 1] as string, keys: last.slice(rowCells + 2) } : undefined,
	};
}

/** Counts all matches, whatever page the plan asks for. */
export async function countResources(reader: Reader, siteId: string, plan: SearchPlan): Promise<number> {
	const { statement, values } = countQuery(siteId, plan);
	const rows = await reader.run(statement, values);
	return rows.reduce((sum, [count]) => sum + Number(count), 0);
}

export interface Included {
	type: ResourceType;
	rows: StoredResource[];
	/** True when there is more than the bounds allow. */
	cut: boolean;
}

/** Returns the resources that a page includes beside its matches, by a column or a term. */
export function includedResources(
	reader: Reader,
	siteId: string,
	inclusion: Inclusion | TermInclusion,
	rowIds: readonly string[],
	bounds: InclusionBounds,
): Promise<Included> {
	return included(reader, inclusion.includedType, rowIds, bounds, (of) =>
		inclusion.direction === 'term' ? termInclusionQuery(siteId, inclusion, rowIds, of) : inclusionQuery(siteId, inclusion, rowIds, of),
	);
}

/** Returns included resources by ids that the matches name. */
export function namedResources(
	reader: Reader,
	siteId: string,
	inclusion: Pick<ElementInclusion, 'includedType' | 'includedTable' | 'reached'>,
	rowIds: readonly string[],
	bounds: InclusionBounds,
): Promise<Included> {
	return included(reader, inclusion.includedType, rowIds, bounds, (of) => rowsQuery(siteId, inclusion, rowIds, of));
}

async function included(
	reader: Reader,
	type: ResourceType,
	rowIds: readonly string[],
	bounds: InclusionBounds,
	query: (bounds: InclusionBounds) => Query,
): Promise<Included> {
	if (rowIds.length === 0) return { type, rows: [], cut: false };
	const rows = await rowsWithin(reader, bounds.rowsMax, (form) => query({ ...bounds, form }));
	const shown = rows.slice(0, bounds.rowsMax);
	return { type, rows: shown.map(rowOf), cut: foundAmong(rows) > shown.length };
}

/** Returns one version of a resource; undefined when the site has no such version. */
export async function readVersion(
	reader: Reader,
	siteId: string,
	{ table, type, id, version }: { table: string; type: ResourceType; id: string; version: string },
): Promise<StoredResource | undefined> {
	if (!isFhirId(id) || !/^[1-9]\d{0,8}$/.test(version)) return undefined;
	const { statement, values } = versionQuery(siteId, table, type, rowIdOf(id), Number(version));
	const [row] = await reader.run(statement, values);
	return row && rowOf(row);
}

export interface FoundVersions {
	rows: StoredResource[];
	next: VersionPosition | undefined;
}

/** Versions of a resource or a type, newest first. */
export async function readHistory(
	reader: Reader,
	siteId: string,
	{ table, type }: { table: string; type: ResourceType },
	page: HistoryPage,
): Promise<FoundVersions> {
	const { statement, values } = historyQuery(siteId, table, type, page);
	const rows = await reader.run(statement, values);
	const shown = rows.slice(0, page.count);
	const last = shown.at(-1);
	const next =
		last && Number(last[rowCells]) > shown.length
			? { lastUpdated: last[rowCells + 1] as string, id: last[rowCells + 2] as string, version: Number(last[rowCells + 3]) }
			: undefined;
	return { rows: shown.map(rowOf), next };
}

/** Returns rows of one table that belong to a patient; `next` is the row id after which more follow. */
export async function readCompartment(
	reader: Reader,
	siteId: string,
	shape: TableShape,
	page: CompartmentPage,
): Promise<{ rows: StoredResource[]; next: string | undefined }> {
	const { statement, values } = compartmentQuery(siteId, shape, page);
	const rows = await reader.run(statement, values);
	const shown = rows.slice(0, page.count);
	const last = shown.at(-1);
	return { rows: shown.map(rowOf), next: last && Number(last[rowCells]) > shown.length ? (last[rowCells + 1] as string) : undefined };
}

/**
 * Returns the types among those that share a table of which the patient has resources.
 * @param prefixes of the terms by which a resource names its patients
 */
export async function sharedTypesOfPatient(
	reader: Reader,
	siteId: string,
	patientId: string,
	prefixes: readonly string[],
): Promise<Set<string>> {
	const rows = await reader.run(sharedTypesStatement, [siteId, patientId, textArray(prefixes)]);
	return new Set(rows.map(([type]) => type as string));
}

const sharedTypesStatement: ReadStatement = {
	name: 'shared_types_of_patient',
	text: `
select distinct r.resource_type from other_resource r
where r.site_id = $1 and not r.deleted and r.terms && array(
	select tributary_term(k.prefix || p.id::text) from unnest($3::text[]) k (prefix) cross join tributary_same_patient($1, $2::uuid) p (id)
)`,
};

/** Returns the row id of the patient who replaced the given one, or of that one itself. */
export async function readSurvivor(reader: Reader, siteId: string, rowId: string): Promise<string> {
	const [[found] = []] = await reader.run(survivorStatement, [siteId, rowId]);
	return found ?? rowId;
}

const survivorStatement: ReadStatement = {
	name: 'read_survivor',
	text: 'select s.id from patient s where s.site_id = $1 and s.id = tributary_survivor($1, $2::uuid)',
};
