import type { Clause, SearchPlan } from '#record/search-plan.ts';
import { relation } from './relation.ts';
import { conditionOf, textCondition } from './search-conditions.ts';
import { isFree, type Page, partsOf } from './search-walks.ts';
import { gramsCondition } from './text-grams.ts';

/**
 * Searches by a part of a text, such as a name. The index of grams is as slow as the rarest of them is common, and reads all rows that have the
 * text; a walk in the order of the page finds a common text at once. So the statement looks at some rows, and does the one or the other.
 */

/** A walk begins if one of so many rows matches. */
const lookedAt = 64;
/** A walk ends after so many rows. */
const walkedMax = 4096;

/** Tells whether only texts lead to the rows of a search. */
export function isByTexts({ clauses, sort }: SearchPlan): boolean {
	const parts = clauses.flatMap(partsOf);
	return sort.length === 0 && parts.some(({ kind }) => kind === 'string') && parts.every((part) => part.kind === 'string' || isFree(part));
}

/** Selects the rows of a page of a search by texts. */
export function textPage({ plan, parameters, limit, select, after }: Page): string {
	const table = relation(plan.table);
	const parts = plan.clauses.flatMap(partsOf);
	const texts = parts.filter((part) => part.kind === 'string');
	const isMatch = (part: Clause) => (part.kind === 'string' ? textCondition(part, 'r', parameters) : conditionOf(part, 'r', parameters));
	const where = `r.site_id = $1 and ${parts.map(isMatch).join(' and ')}`;
	const leads = texts.flatMap((text) => gramsCondition(text, 'r', parameters, false) ?? []);
	if (leads.length === 0) return select(table, where);
	const inOrder = (columns: string) => `select ${columns} from ${table} r where r.site_id = $1${after()} order by r.id`;
	// PostgreSQL takes a row apart as far as the last column that is asked for.
	const looked = texts.length < parts.length ? 'r.*' : ['r.site_id', ...new Set(texts.map(({ column }) => `r.${column}`))].join(', ');
	const isFrequent = `exists (select from (${inOrder(looked)} limit ${lookedAt}) r where ${where})`;
	const walked = select(`(${inOrder('r.*')} limit (select ${walkedMax}))`, `${isFrequent} and ${where}`);
	const isMissing = `(select count(*) from walked) < ${limit}`;
	const led = select(
		`(select r.* from ${table} r where ${['r.site_id = $1', ...leads].join(' and ')} offset 0)`,
		`${isMissing} and ${where}`,
	);
	// Only one of the two has rows, in their order and no more than the page holds.
	return `
	with walked as materialized (${walked})
	(select w.* from walked w where w.site_id = $1 and not ${isMissing}) union all (${led})`;
}
