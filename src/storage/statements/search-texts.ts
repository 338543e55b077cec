import type { SearchPlan } from '#record/search-plan.ts';
import { relation } from './relation.ts';
import { conditionOf } from './search-conditions.ts';
import { isFree, type Page, partsOf } from './search-walks.ts';

/**
 * Searches by a part of a text, such as a name. The index of trigrams is as slow as the rarest of them is common, and reads all rows that have the
 * text; a walk in the order of the page finds a common text at once. So the statement looks at some rows, and does the one or the other.
 */

/** A walk begins if one of so many rows matches. */
const lookedAt = 64;
/** A walk ends after so many rows. */
const walkedMax = 4096;

/**
 * Tells whether there is one site alone. The index of trigrams merges the list of all rows of the site with those that have the trigrams, which
 * costs five times as much as these alone. Where all rows are the site's, it is cheaper to look at each.
 */
const isOnlySite = 'select count(*) = 1 as so from (select from site limit 2) s';

/** Tells whether only texts lead to the rows of a search. */
export function isByTexts({ clauses, sort }: SearchPlan): boolean {
	const parts = clauses.flatMap(partsOf);
	return sort.length === 0 && parts.some(({ kind }) => kind === 'string') && parts.every((part) => part.kind === 'string' || isFree(part));
}

/** Selects the rows of a page of a search by texts. */
export function textPage({ plan, parameters, limit, select, after, order }: Page): string {
	const matches = plan.clauses.map((clause) => conditionOf(clause, 'r', parameters)).join(' and ');
	const where = `r.site_id = $1 and ${matches}`;
	const inOrder = `select r.* from ${relation(plan.table)} r where r.site_id = $1${after()} order by r.id`;
	const isFrequent = `exists (select from (${inOrder} limit ${lookedAt}) r where ${where})`;
	const walked = select(`(${inOrder} limit (select ${walkedMax}))`, `${isFrequent} and ${where}`);
	const isMissing = `(select count(*) from walked) < ${limit}`;
	const isOnly = '(select o.so from only_site o)';
	const own = select(`(select r.* from ${relation(plan.table)} r where ${where} offset 0)`, `${isMissing} and not ${isOnly}`);
	const all = select(
		`(select r.* from ${relation(plan.table)} r where (r.site_id = $1) is true and ${matches} offset 0)`,
		`${isMissing} and ${isOnly}`,
	);
	return `
	with walked as materialized (${walked}), only_site as materialized (${isOnlySite})
	select m.* from (
		(select w.* from walked w where w.site_id = $1 and not ${isMissing}) union all (${own}) union all (${all})
	) m where m.site_id = $1 order by ${order('m')} limit ${limit}`;
}
