import { nilId } from '#core/id.ts';
import type { Clause, SearchPlan, SortKey } from '#record/search-plan.ts';
import type { Parameters } from './parameters.ts';
import { relation } from './relation.ts';
import { whereOf } from './search-conditions.ts';
import { isLater, isTakenIn, leadsOf, type NamedTerms, namedTerms } from './search-leads.ts';

/**
 * The ways in which a search with leads comes to its page. Where many rows match, a walk in the order of the page soon fills it; where few do,
 * the index of elements leads to them. PostgreSQL cannot tell which it is: its statistics are those of all sites together, and it takes for
 * independent what is not. So the statement looks at some rows itself, and does the one or the other.
 */

/** A walk begins if one of so many rows matches, and two of so many: a value that is found once in a site may be found among the first rows. */
const lookedAt = [256, 1024] as const;
/** A walk ends after so many rows. To look at them takes a few milliseconds. */
const walkedMax = 12_288;
/** While more rows than these are not yet in the index of elements, they are walked through in the order of the page. */
const laterMax = 10_000;
/** If no more rows than these fulfil the conditions that have an index of their own, they are read. */
const othersMax = 2000;

/** The parts of the statement have this in common. */
export interface Page {
	plan: SearchPlan;
	parameters: Parameters;
	limit: string;
	/** Selects the rows `r` of the page from what follows `from`, which ends before the alias, by a condition. */
	select(from: string, where: string): string;
	/** The condition, after others, that rows `r` come after the page before. */
	after(): string;
	/** The order of the page, of the rows that are named. */
	order(row: string): string;
}

/** Selects the rows of a page of a search with leads. */
export function ledPage(page: Page): string {
	const { plan, limit, order, select } = page;
	const { clauses, table } = plan;
	if (clauses.some(isKey)) return select(relation(table), keyedWhere(page));
	const ways = waysOf(page);
	const later = laterParts(page);
	const named = [...ways.named, ...later.named];
	const parts = [...ways.parts, ...later.parts];
	return `
	with ${named.join(', ')}
	select m.* from ((${parts.join(') union all (')})) m where m.site_id = $1 order by ${order('m')} limit ${limit}`;
}

/** Parts of a statement, and what they use under a name. */
interface Parts {
	named: string[];
	parts: string[];
}

/** The parts for the rows that are in the index of elements. */
function waysOf(page: Page): Parts {
	const { plan, parameters, select } = page;
	const { clauses, table, resourceType } = plan;
	const others = clauses.flatMap(partsOf).filter((clause) => !isLedOrFree(clause));
	if (!others.every(hasIndex)) {
		const where = `${whereOf(clauses, 'r', parameters, 'taken-in')} and ${isTakenIn(resourceType, 'r')}`;
		return { named: [], parts: [select(relation(table), where)] };
	}
	const terms = clauses.flatMap(leadsOf).map((led) => namedTerms(led, parameters, whereOf));
	const where = `${whereOf(clauses, 'r', parameters, 'later')} and ${isTakenIn(resourceType, 'r')}`;
	const { named, parts } = others.length > 0 ? waysAmong(page, others, terms, where) : waysByLeads(page, terms, where);
	return { named: [...terms.flatMap(({ named }) => named ?? []), ...named], parts };
}

function waysByLeads(page: Page, terms: readonly NamedTerms[], where: string): Parts {
	const { plan, select } = page;
	const led = (condition: string) => select(ledRows(page, terms), `${condition}e.id = r.id and ${where}`);
	if (!isWalkable(plan.sort)) return { named: [], parts: [led('')] };
	const { first, rowsOf, isLed, matches } = plan.sort.length === 0 ? entryWalk(page, terms, where) : rowWalk(page, terms, where);
	const [few, more] = lookedAt;
	const isFrequent = `exists (select from ${first(few)} where ${isLed}) and (select count(*) from (select from ${first(more)} where ${isLed} limit 2) l) = 2`;
	// A subquery, so that PostgreSQL does not sort a small site as a whole.
	return walkOr(page, select(rowsOf(first(`(select ${walkedMax})`)), `${isFrequent} and ${matches}`), led);
}

/** The rows of a walk if they fill the page, else other rows, by a condition that goes before those of theirs. */
function walkOr({ limit }: Page, walk: string, other: (condition: string) => string): Parts {
	return {
		named: [`walked as materialized (${walk})`],
		parts: [
			`select w.* from walked w where w.site_id = $1 and (select count(*) from walked) >= ${limit}`,
			other(`(select count(*) from walked) < ${limit} and `),
		],
	};
}

/**
 * Other conditions have an index of their own. If few rows fulfil these, they are read. If many do, those are walked through in the order of the page,
 * for which PostgreSQL finds the best way, and if that does not fill it, the index of elements leads to the rows.
 */
function waysAmong(page: Page, others: readonly Clause[], terms: readonly NamedTerms[], where: string): Parts {
	const { plan, parameters, select, after } = page;
	const rows = `select r.* from ${relation(plan.table)} r where ${whereOf(others, 'r', parameters)}`;
	const matches = `case when ${isLedRow(plan, terms)} then ${where} end`;
	const areMany = '(select o.so from others o)';
	const named = `others as materialized (select exists (${rows} offset ${othersMax}) as so)`;
	const few = select(`(${rows} offset 0)`, `not ${areMany} and ${matches}`);
	const led = (condition: string) => select(ledRows(page, terms), `${areMany} and ${condition}e.id = r.id and ${where}`);
	if (!isWalkable(plan.sort)) return { named: [named], parts: [few, led('')] };
	const key = plan.sort.length === 0 ? 'r.id' : inDirection(plan.sort);
	const walk = walkOr(page, select(`(${rows}${after()} order by ${key} limit ${walkedMax})`, `${areMany} and ${matches}`), led);
	return { named: [named, ...walk.named], parts: [few, ...walk.parts] };
}

/** Tells whether every type has an index in the order. */
export function isWalkable(sort: readonly SortKey[]): boolean {
	return sort.length === 0 || (sort.length === 1 && sort[0]?.column === 'last_updated');
}

function inDirection([first]: readonly SortKey[]): string {
	const direction = first?.descending ? ' desc' : '';
	return `r.last_updated${direction}, r.id${direction}`;
}

interface Walk {
	/** So many of what is walked through, in the order of the page. */
	first(most: number | string): string;
	/** The rows `r` of these, without the alias. */
	rowsOf(first: string): string;
	/** The condition that the index of elements leads to one of them. */
	isLed: string;
	/** The condition that its row matches. */
	matches: string;
}

/** Entries are shorter than rows, and stand in the order of the ids. */
function entryWalk({ plan, parameters }: Page, terms: readonly NamedTerms[], where: string): Walk {
	const entries = `select e.id, e.terms from search_entry e where e.site_id = $1 and ${isEntry(plan)} and e.id > ${afterId(plan, parameters)} order by e.id`;
	const isLed = terms.map(({ terms }) => `e.terms && ${terms}`).join(' and ');
	return {
		first: (most) => `(${entries} limit ${most}) e`,
		rowsOf: (first) => `${first} ${withRow(plan)}`,
		isLed,
		matches: `e.id = r.id and ${isLed} and ${where}`,
	};
}

function rowWalk({ plan, after }: Page, terms: readonly NamedTerms[], where: string): Walk {
	const rows = `
		select r.* from ${relation(plan.table)} r where r.site_id = $1 and ${isTakenIn(plan.resourceType, 'r')}${after()}
		order by ${inDirection(plan.sort)}`;
	const isLed = isLedRow(plan, terms);
	return {
		first: (most) => `(${rows} limit ${most}) r`,
		rowsOf: (first) => first.replace(/ r$/, ''),
		isLed,
		// The entry is looked at before the text of the resource, which costs more than PostgreSQL thinks.
		matches: `case when ${isLed} then ${where} end`,
	};
}

/** The condition that the index of elements leads to the row `r`. */
function isLedRow(plan: SearchPlan, terms: readonly NamedTerms[]): string {
	return `exists (select from search_entry e where e.site_id = $1 and ${isEntry(plan)} and e.id = r.id${hasAll(terms)} offset 0)`;
}

function hasAll(terms: readonly NamedTerms[]): string {
	return terms.map(({ terms }) => ` and e.terms && ${terms}`).join('');
}

/** The rows to which the index of elements leads, in the order of their ids: the first that match end the look. */
function ledRows({ plan, parameters }: Page, terms: readonly NamedTerms[]): string {
	const isBehind = plan.sort.length > 0 ? '' : ` and e.id > ${afterId(plan, parameters)}`;
	return `(select e.id from search_entry e where e.site_id = $1 and ${isEntry(plan)}${isBehind}${hasAll(terms)} order by e.id offset 0) e ${withRow(plan)}`;
}

/** A subquery, so that PostgreSQL makes no other plan for another page. */
function afterId({ after }: SearchPlan, parameters: Parameters): string {
	return `(select ${parameters.add(after?.id ?? nilId, 'uuid')})`;
}

function isEntry({ resourceType }: SearchPlan): string {
	return `e.resource_type = '${resourceType}'`;
}

/** `offset 0`: one row after the other, so that no more are read than the page needs. */
function withRow({ table }: SearchPlan): string {
	return `cross join lateral (select r.* from ${relation(table)} r where r.site_id = $1 and r.id = e.id offset 0)`;
}

/**
 * The rows that are not in the index of elements. There are few but while the index is filled for the first time, or behind a lasting load.
 * PostgreSQL does not know that, and would rather walk through the site until the page is full, which it never is.
 */
function laterParts({ plan, parameters, select }: Page): Parts {
	const { clauses, table, resourceType } = plan;
	const where = whereOf(clauses, 'r', parameters, 'later');
	const isOne = isLater(resourceType, 'r');
	const rows = `select r.* from ${relation(table)} r where r.site_id = $1 and ${isOne}`;
	const areMany = '(select b.so from behind b)';
	return {
		named: [`behind as materialized (select exists (${rows} offset ${laterMax}) as so)`],
		parts: [select(`(${rows} offset 0)`, `not ${areMany} and ${where}`), select(relation(table), `${areMany} and ${where} and ${isOne}`)],
	};
}

/** Few rows have the key. Those that the index of elements does not lead to are passed over before their text is read. */
function keyedWhere({ plan, parameters }: Page): string {
	const keys = plan.clauses.filter(isKey);
	const others = plan.clauses.filter((clause) => !isKey(clause));
	const leads = others.flatMap(leadsOf).map((led) => ` and e.terms && ${namedTerms(led, parameters, whereOf).inPlace}`);
	const isLed = `exists (select from search_entry e where e.site_id = $1 and ${isEntry(plan)} and e.id = r.id${leads.join('')})`;
	const where = whereOf(others, 'r', parameters, 'later');
	return `${whereOf(keys, 'r', parameters)} and case when ${isLater(plan.resourceType, 'r')} or ${isLed} then ${where} end`;
}

/** Tells whether few rows fulfil a clause, and an index of their table leads to them. */
function isKey(clause: Clause): boolean {
	if (clause.kind === 'identifier') return clause.tokens.every(({ value }) => value !== undefined);
	return clause.kind === 'reference';
}

/** Tells whether one plan suits all values of a search, because the statement itself chooses by what it finds. */
export function choosesItself(clauses: readonly Clause[]): boolean {
	return clauses.some((clause) => leadsOf(clause).length > 0) && (clauses.some(isKey) || clauses.every(isLedOrFree));
}

/** Tells whether no index but that of the elements helps to find the rows that fulfil a clause. */
function isLedOrFree(clause: Clause): boolean {
	if (clause.kind === 'all') return clause.clauses.every(isLedOrFree);
	return clause.kind === 'led' || isFree(clause);
}

/** Tells whether no index helps to find the rows that fulfil a clause. */
export function isFree(clause: Clause): boolean {
	if (clause.kind === 'any' || clause.kind === 'all') return clause.clauses.every(isFree);
	return ['element', 'items', 'not', 'listed', 'present', 'absent'].includes(clause.kind);
}

/** Tells whether an index of the table leads to the rows that fulfil a clause, and may be asked how many there are. */
function hasIndex({ kind }: Clause): boolean {
	return ['code', 'coding', 'string', 'date', 'moment', 'text', 'member'].includes(kind);
}

/** The clauses that must hold together. */
export function partsOf(clause: Clause): Clause[] {
	return clause.kind === 'all' ? clause.clauses.flatMap(partsOf) : [clause];
}
