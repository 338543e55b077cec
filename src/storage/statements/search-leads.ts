import type { Clause, Lead } from '#record/search-plan.ts';
import type { Parameters } from './parameters.ts';
import { relation } from './relation.ts';

/**
 * Conditions by the index of elements, which holds what was written before the moment in `search_progress`. A search reads later rows
 * themselves: there are few, and the index by their time leads to them.
 */

type Where = (clauses: readonly Clause[], alias: string, parameters: Parameters) => string;

/** Which rows a condition is about: all, or only those that are in the index of elements, or only the others. */
export type RowsMeant = 'all' | 'taken-in' | 'later';

export type Led = Pick<Clause & { kind: 'led' }, 'type' | 'table' | 'lead'>;

export function leadCondition(led: Led, alias: string, parameters: Parameters, rows: RowsMeant, whereOf: Where): string {
	if (rows === 'later') return 'true';
	if (rows === 'all') return `${alias}.id in (${ledIds(led, parameters, whereOf)})`;
	const { entry, where } = entriesOf(led, parameters, whereOf);
	return `exists (select from search_entry ${entry} where ${where} and ${entry}.id = ${alias}.id)`;
}

/** Selects the ids of the rows to which a lead leads, and of those that are not in the index. */
export function ledIds(led: Led, parameters: Parameters, whereOf: Where): string {
	const { entry, where } = entriesOf(led, parameters, whereOf);
	const later = parameters.alias();
	return `
		select ${entry}.id from search_entry ${entry} where ${where}
		union all select ${later}.id from ${relation(led.table)} ${later} where ${later}.site_id = $1 and ${isLater(led.type, later)}`;
}

function entriesOf({ type, lead }: Led, parameters: Parameters, whereOf: Where): { entry: string; where: string } {
	const entry = parameters.alias();
	const terms = termsOf(lead, parameters, whereOf);
	return { entry, where: `${entry}.site_id = $1 and ${entry}.resource_type = '${type}' and ${entry}.terms && ${terms}` };
}

export interface NamedTerms {
	/** The terms where they are used. Those that are looked up have a name, since the statement uses them in several places. */
	terms: string;
	inPlace: string;
	named: string | undefined;
}

export function namedTerms({ lead }: Led, parameters: Parameters, whereOf: Where): NamedTerms {
	const inPlace = termsOf(lead, parameters, whereOf);
	// A subquery, so that PostgreSQL makes no other plan for other terms.
	if (lead.through.length === 0 && lead.sounds === undefined) return { terms: `(select ${inPlace})`, inPlace, named: undefined };
	const name = parameters.alias();
	return { terms: `(select ${name}.terms from ${name})`, inPlace, named: `${name} as materialized (select ${inPlace} as terms)` };
}

function termsOf({ terms, through, sounds = [] }: Lead, parameters: Parameters, whereOf: Where): string {
	const known = terms.length === 0 ? [] : [parameters.add(terms, 'bigint[]')];
	const found = through.map(({ prefix, table, clauses }) => {
		const target = parameters.alias();
		const before = parameters.add(prefix, 'text');
		const id = table === 'patient' ? 'p.id' : `${target}.id`;
		const same = table === 'patient' ? ` cross join lateral tributary_same_patient($1, ${target}.id) p (id)` : '';
		return `array(select tributary_term(${before} || ${id}::text) from ${relation(table)} ${target}${same} where ${whereOf(clauses, target, parameters)})`;
	});
	const heard = sounds.map(({ prefix, word }) => {
		const before = parameters.add(prefix, 'text');
		return `array(select tributary_term(${before} || n.sound) from tributary_sounds(${parameters.add(word, 'text')}) n (sound))`;
	});
	const all = [...known, ...found, ...heard];
	return all.length === 0 ? `'{}'::bigint[]` : all.length === 1 ? String(all[0]) : `(${all.join(' || ')})`;
}

/** The second bound rules out nothing. By it the planner knows that the rows are few, though it does not know the first. */
export function isLater(type: string, alias: string): string {
	return `${alias}.last_updated >= ${takenInUntil(type)} and ${alias}.last_updated < 'infinity'`;
}

export function isTakenIn(type: string, alias: string): string {
	return `not ${alias}.last_updated >= ${takenInUntil(type)}`;
}

function takenInUntil(type: string): string {
	return `coalesce((select p.until from search_progress p where p.site_id = $1 and p.resource_type = '${type}'), '-infinity')`;
}

/** The leads to the rows that fulfil a clause; each of them leads to all of these. */
export function leadsOf(clause: Clause): Led[] {
	if (clause.kind === 'led') return [clause, ...leadsOf(clause.clause)];
	return clause.kind === 'all' ? clause.clauses.flatMap(leadsOf) : [];
}
