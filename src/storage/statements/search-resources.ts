import { nilId } from '#core/id.ts';
import type {
	Clause,
	ElementTest,
	Extent,
	Included,
	Inclusion,
	PagePosition,
	SearchPlan,
	SortKey,
	TermInclusion,
} from '#record/search-plan.ts';
import { termOf } from '#record/search-term.ts';
import { Parameters, type Query } from './parameters.ts';
import { relation } from './relation.ts';
import { type Bounded, boundedQuery, innerColumns, shortColumns } from './row-columns.ts';
import { isWholeDay, whereOf } from './search-conditions.ts';
import { isLater, isTakenIn, leadsOf, ledIds } from './search-leads.ts';
import { isByTexts, textPage } from './search-texts.ts';
import { survivorOf } from './search-through.ts';
import { choosesItself, isWalkable, ledPage, type Page } from './search-walks.ts';

/**
 * The way in which the texts of a page are kept below its bytes. `short` selects null for a text that has more than its share of them, and the caller then
 * asks again with `bounded`. Where texts are rendered, or the share is small, both are the same.
 */
export type PageForm = 'short' | 'bounded';

/**
 * Selects one row more than the page holds, to know whether there is a next page. `found`, the row id and the sort keys follow the columns of the
 * row; `found` is null where the rows themselves are all that were found. Otherwise it counts them, and rows after the one that exceeds `bytesMax`
 * stay in the database, so that the page ends early.
 */
export function searchQuery(siteId: string, plan: SearchPlan, bytesMax: number, form: PageForm = 'short'): Query {
	const { sort, table, extent } = plan;
	const arms = armsOf(plan);
	const isText = isByTexts(plan);
	const parameters = new Parameters(siteId, isText);
	const most = parameters.add(plan.count + 1, 'integer');
	// A subquery, so that PostgreSQL makes no other plan for another page.
	const limit = isText || arms.some(({ clauses }) => clauses.some(hasLead)) ? `(select ${most})` : most;
	const order = (row: string) =>
		[...sort.map((key, index) => `${row}.k${index}${direction(key)}`), `${row}.id${lastDirection(sort)}`].join(', ');
	const pages = arms.map((arm) => pageOf(arm, { parameters, limit, order }));
	const inner =
		pages.length === 1
			? String(pages[0])
			: `select m.* from ((${pages.join(') union all (')})) m where m.site_id = $1 order by ${order('m')} limit ${limit}`;
	const shown = sort.map((_key, index) => `, r.k${index}::text`).join('');
	const text = pageText({ table, extent, inner, order, shown: `, r.id${shown}` }, { bytesMax, texts: plan.count + 1, form }, parameters);
	return parameters.query(text, isPrepared(plan));
}

/**
 * Returns a search for each of the clauses of which exactly one holds, which together find the same. Each has an index that leads to its rows in the order
 * of the page, or to few rows.
 */
function armsOf(plan: SearchPlan): SearchPlan[] {
	const either = plan.clauses.find((clause) => clause.kind === 'either');
	if (either === undefined) return [plan];
	return either.clauses.map((one) => ({ ...plan, clauses: plan.clauses.map((clause) => (clause === either ? one : clause)) }));
}

/** Selects the rows of a page, in its order and no more than it holds. */
function pageOf(plan: SearchPlan, { parameters, limit, order }: Pick<Page, 'parameters' | 'limit' | 'order'>): string {
	const { clauses, sort, table } = plan;
	const keys = sort.map(({ column }, index) => `, r.${column} as k${index}`).join('');
	const select = (from: string, where: string) =>
		inOrder({ selected: `${innerColumns(table)}${keys} from ${from} r`, where, limit }, plan, parameters);
	const page: Page = { plan, parameters, limit, select, after: () => afterCondition(plan, parameters), order };
	if (clauses.some(hasLead)) return ledPage(page);
	return isByTexts(plan) ? textPage(page) : select(relation(table), whereOf(clauses, 'r', parameters));
}

/** A text seldom has more bytes than these. With a smaller share most pages would be selected twice. */
const shareMin = 4096;

/**
 * Selects the rows of a page from `inner`, which has their order and no more than the page holds. What is shown is made of these rows alone: PostgreSQL
 * would make it of all that it sorts.
 */
function pageText(
	{ table, extent, inner, order, shown }: Pick<Bounded, 'table' | 'extent' | 'inner' | 'order'> & { shown: string },
	{ bytesMax, texts, form }: { bytesMax: number; texts: number; form: PageForm },
	parameters: Parameters,
): string {
	const share = Math.min(Math.floor(bytesMax / texts), 2 ** 31 - 1);
	const short = form === 'short' && share >= shareMin ? shortColumns(table, () => parameters.add(share, 'integer')) : undefined;
	if (short !== undefined) return `select ${short}, null${shown} from (${inner}) r where r.site_id = $1 order by ${order('r')}`;
	return boundedQuery({ table, extent, further: `r.found${shown}`, inner, order, bytesMax: parameters.add(bytesMax, 'bigint') });
}

/**
 * Selects the rows of the page. Rows without a value come last, as in the order of PostgreSQL's indexes. Where the order descends, such an
 * index is walked backwards for the rows with a value, and the others are selected only as far as these do not fill the page. The same holds
 * where the index has only rows with a value.
 */
function inOrder(
	{ selected, where, limit }: Record<'selected' | 'where' | 'limit', string>,
	plan: SearchPlan,
	parameters: Parameters,
): string {
	const { sort, after } = plan;
	const [first, ...rest] = sort;
	const ordered = (keys: readonly string[]) => `order by ${[...keys, `r.id${lastDirection(sort)}`].join(', ')}`;
	const directed = (key: SortKey) => `r.${key.column}${direction(key)}`;
	if (first === undefined || !isInTwoParts(plan)) {
		return `select ${selected} where ${where}${afterCondition(plan, parameters)} ${ordered(sort.map(directed))} limit ${limit}`;
	}
	const isBehind = after !== undefined && (after.keys[0] ?? null) === null;
	const empty = `select ${selected} where ${where} and r.${first.column} is null`;
	if (isBehind) return `${empty} and (${beyond(plan, after, 1, parameters)}) ${ordered(rest.map(directed))} limit ${limit}`;
	const further = after === undefined ? '' : ` and (${beyond(plan, after, 0, parameters)})`;
	const filled = `r.${first.column}${first.descending ? ' desc' : ''}`;
	return `
		with filled as materialized (
			select ${selected} where ${where} and r.${first.column} is not null${further} ${ordered([filled, ...rest.map(directed)])} limit ${limit}
		), empty as (
			${empty} ${ordered(rest.map(directed))} limit ${limit} - (select count(*) from filled)
		)
		select * from filled union all select * from empty`;
}

/** The indexes of a table that types share have only rows with a value. */
function isInTwoParts({ sort: [first], table }: SearchPlan): boolean {
	return first?.nullable === true && (first.descending || table.includes('/'));
}

function direction({ descending, nullable }: SortKey): string {
	return descending ? ` desc${nullable ? ' nulls last' : ''}` : '';
}

/** The id has the direction of the last key, so that one index can be walked in one direction. */
function lastDirection(sort: readonly SortKey[]): string {
	return sort.at(-1)?.descending ? ' desc' : '';
}

function afterCondition(plan: SearchPlan, parameters: Parameters): string {
	const { sort, after } = plan;
	if (sort.length === 0) return ` and r.id > ${parameters.add(after?.id ?? nilId, 'uuid')}`;
	return after === undefined ? '' : ` and (${beyond(plan, after, 0, parameters)})`;
}

/** Rows that come after the position, by the keys from `index` on. */
function beyond(plan: SearchPlan, after: PagePosition, index: number, parameters: Parameters): string {
	const { sort } = plan;
	const key = sort[index];
	if (key === undefined) return `r.id ${lastDirection(sort) === '' ? '>' : '<'} ${parameters.add(after.id, 'uuid')}`;
	const column = `r.${key.column}`;
	const value = after.keys[index] ?? null;
	const rest = beyond(plan, after, index + 1, parameters);
	if (value === null) return `${column} is null and (${rest})`;
	const parameter = parameters.add(value, key.columnType);
	const further = `${column} ${key.descending ? '<' : '>'} ${parameter}`;
	const equal = `${column} = ${parameter} and (${rest})`;
	// The first key bounds the walk through its index, unless rows without a value follow in the same walk.
	if (index === 0 && (key.descending || !key.nullable || isInTwoParts(plan)))
		return `${column} ${key.descending ? '<=' : '>='} ${parameter} and (${further} or ${equal})`;
	return `${further} or ${key.nullable ? `${column} is null or ` : ''}${equal}`;
}

const hasLead = (clause: Clause) => leadsOf(clause).length > 0;

/** Counts what a search finds. There is one row, or one for each of the searches into which it divides. */
export function countQuery(siteId: string, plan: SearchPlan): Query {
	const parameters = new Parameters(siteId);
	const arms = armsOf(plan);
	return parameters.query(
		arms.map((arm) => countOf(arm, parameters)).join(' union all '),
		arms.length === 1 && !plan.clauses.some(hasLead) && isPrepared(plan),
	);
}

function countOf({ clauses, resourceType, table }: SearchPlan, parameters: Parameters): string {
	const takenIn = clauses.some(hasLead) ? 'taken-in' : 'all';
	const where = whereOf(clauses, 'r', parameters, takenIn);
	if (takenIn === 'all') return `select count(*) from ${relation(table)} r where ${where}`;
	const later = `${whereOf(clauses, 'r', parameters, 'later')} and ${isLater(resourceType, 'r')}`;
	return `
		select (select count(*) from ${relation(table)} r where ${where} and ${isTakenIn(resourceType, 'r')})
			+ (select count(*) from ${relation(table)} r where ${later} and r.site_id = $1)`;
}

export interface InclusionBounds {
	rowsMax: number;
	bytesMax: number;
	extent: Extent;
	/** Absent is `short`. */
	form?: PageForm;
}

/**
 * Selects the rows to which the given rows refer by a column, or those that refer to them; one row more than the limit. `found` follows the
 * columns, as in `searchQuery`.
 */
export function inclusionQuery(siteId: string, inclusion: Inclusion, rowIds: readonly string[], bounds: InclusionBounds): Query {
	const { direction: way, table, column, includedTable, includedType, prefix } = inclusion;
	const parameters = new Parameters(siteId);
	const ids = parameters.add(rowIds, 'uuid[]');
	const forward = `r.id in (select s.${column} from ${relation(table)} s where s.site_id = $1 and s.id = any(${ids}))`;
	if (way === 'forward') return includedRows(parameters, inclusion, forward, bounds, rowIds.length);
	const reverse = `r.${column} = any(${ids})`;
	if (prefix === undefined) return includedRows(parameters, inclusion, reverse, bounds);
	const lead = { terms: rowIds.map((id) => termOf(`${prefix}${id}`)), through: [] };
	const led = ledIds({ type: includedType, table: includedTable, lead }, parameters, whereOf);
	return includedRows(parameters, inclusion, `r.id = any(array(${led})) and ${reverse}`, bounds);
}

/** Selects the rows that refer to the given rows by a term. */
export function termInclusionQuery(siteId: string, inclusion: TermInclusion, rowIds: readonly string[], bounds: InclusionBounds): Query {
	const { prefix } = inclusion;
	const parameters = new Parameters(siteId);
	const terms = parameters.add(
		rowIds.map((id) => termOf(`${prefix}${id}`)),
		'bigint[]',
	);
	return includedRows(parameters, inclusion, `r.terms && ${terms}`, bounds);
}

/** A condition that matches more patients than this matches several, even if one patient has replaced all that were looked at. */
export const followedPatientsMax = 64;

/**
 * Selects two of the patients that a condition means, with whether a merge led to them, and how many rows led there. A patient who was
 * merged
 * stands for the survivor.
 */
export function survivorsQuery(siteId: string, plan: SearchPlan): Query {
	const parameters = new Parameters(siteId);
	const where = whereOf(plan.clauses, 'r', parameters);
	const text = `
select coalesce(p.given_id, p.id::text), bool_or(m.merged), count(*)
from (
	select ${survivorOf('r')} as id, r.merged_into is not null as merged
	from ${relation(plan.table)} r where ${where} limit ${followedPatientsMax}
) m
join patient p on p.site_id = $1 and p.id = m.id
group by p.id, p.given_id
limit 2`;
	return parameters.query(text, false);
}

/** Rows of the given ids. */
export function rowsQuery(siteId: string, included: Rows, rowIds: readonly string[], bounds: InclusionBounds): Query {
	const parameters = new Parameters(siteId);
	return includedRows(parameters, included, `r.id = any(${parameters.add(rowIds, 'uuid[]')})`, bounds, rowIds.length);
}

type Rows = Pick<Included, 'includedTable' | 'reached'>;

function includedRows(
	parameters: Parameters,
	{ includedTable: table, reached = [] }: Rows,
	condition: string,
	{ rowsMax, bytesMax, extent, form = 'short' }: InclusionBounds,
	idsMax = Number.POSITIVE_INFINITY,
): Query {
	const limit = parameters.add(rowsMax + 1, 'integer');
	const inner = `select ${innerColumns(table)} from ${relation(table)} r where ${whereOf(reached, 'r', parameters)} and ${condition} order by r.id limit ${limit}`;
	const order = (row: string) => `${row}.id`;
	const texts = Math.min(rowsMax + 1, idsMax);
	return parameters.query(
		pageText({ table, extent, inner, order, shown: '' }, { bytesMax, texts, form }, parameters),
		reached.length === 0,
	);
}

/**
 * Tells whether a search is prepared. Prepared statements stay on the connection, so only shapes of which there are few are prepared, and
 * only
 * if one plan suits every value, because a clause leads to few rows by itself. For others the best plan depends on how common the value is,
 * so
 * they are planned each time.
 */
function isPrepared(plan: SearchPlan): boolean {
	const [only, ...others] = plan.clauses;
	if (only?.kind === 'either' && others.length === 0 && plan.sort.length === 0 && isByIdentifier(only)) return true;
	return armsOf(plan).every(isArmPrepared);
}

/**
 * Tells whether a search finds what refers to resources of an identifier, whatever their type. Few have it, and to plan the statement takes ten times as long
 * as to carry it out.
 */
function isByIdentifier(clause: Clause): boolean {
	const isKey = (part: Clause) =>
		alternativesOf(part) === 1 &&
		(part.kind === 'terms' || (part.kind === 'identifier' && part.tokens.every(({ value }) => value !== undefined)));
	switch (clause.kind) {
		case 'either':
		case 'all':
			return clause.clauses.every(isByIdentifier);
		case 'led':
			return clause.lead.terms.length === 0 && clause.lead.through.every(({ clauses }) => clauses.every(isKey));
		case 'through':
			return clause.clauses.every(isKey);
		default:
			return clause.kind === 'absent';
	}
}

function isArmPrepared(plan: SearchPlan): boolean {
	const { clauses, sort } = plan;
	if (clauses.length > 2 || clauses.some((clause) => alternativesOf(clause) !== 1)) return false;
	if ((choosesItself(clauses) && isWalkable(sort)) || isByTexts(plan)) return true;
	if (sort.length > 0) return false;
	return clauses.length === 0 || clauses.some(isSelective) || (clauses.length === 1 && clauses[0]?.kind === 'code');
}

function isSelective(clause: Clause): boolean {
	if (clause.kind === 'date')
		return clause.alternatives.every((alternative) => alternative.prefix === 'eq' && isWholeDay(clause, alternative));
	return clause.kind === 'reference' || clause.kind === 'identifier' || clause.kind === 'terms';
}

/** Returns zero for a clause of many shapes. */
function alternativesOf(clause: Clause): number {
	switch (clause.kind) {
		case 'present':
		case 'absent':
			return 1;
		case 'terms':
			return clause.terms.length;
		case 'code':
		case 'string':
		case 'text':
			return clause.values.length;
		case 'reference':
			return clause.ids.length;
		case 'coding':
		case 'identifier':
			return clause.tokens.length;
		case 'date':
		case 'moment':
			return clause.alternatives.length;
		case 'led':
			return clause.lead.through.length > 0 ? 0 : alternativesOf(clause.clause);
		case 'element':
			return testsOf(clause.test);
		case 'all':
			return clause.clauses.every((part) => alternativesOf(part) === 1) ? 1 : 0;
		default:
			return 0;
	}
}

function testsOf(test: ElementTest): number {
	switch (test.kind) {
		case 'exists':
		case 'sound':
			return 1;
		case 'token':
			return test.tokens.length;
		case 'reference':
			// They are one list, however many they are: an id alone may be that of several types.
			return Math.min(test.values.length, 1);
		case 'text':
		case 'uri':
			return test.values.length;
		case 'quantity':
		case 'date':
		case 'number':
			return test.alternatives.length;
	}
}
