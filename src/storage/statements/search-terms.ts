import type { Clause } from '#record/search-plan.ts';
import type { Parameters } from './parameters.ts';
import { relation } from './relation.ts';
import { jsonOf } from './stored-text.ts';

/** Conditions by terms (`record/search-term`), and by references that stand only in the text of a resource. */

type Where = (clauses: readonly Clause[], alias: string, parameters: Parameters) => string;

export function termsCondition({ terms }: Clause & { kind: 'terms' }, alias: string, parameters: Parameters): string {
	const [first, ...others] = terms;
	if (first === undefined) return 'false';
	if (others.length === 0) return `${alias}.terms @> array[${parameters.add(first, 'bigint')}]`;
	return `${alias}.terms && ${parameters.add(terms, 'bigint[]')}`;
}

/**
 * A merge leaves the terms as they are, so a reference to any of the patients who are one person is looked for. The planner takes a hundredth
 * of all rows for what terms that it does not know lead to, and would rather walk through the site in the order of the page; so they lead to ids.
 */
export function patientTermsCondition({ prefix, ids }: Clause & { kind: 'patient-terms' }, alias: string, parameters: Parameters): string {
	if (ids.length === 0) return 'false';
	const before = parameters.add(prefix, 'text');
	const named = parameters.add(ids, 'uuid[]');
	const found = parameters.alias();
	return `${alias}.id = any(array(
		select ${found}.id from other_resource ${found} where ${found}.site_id = $1 and ${found}.terms && array(
			select tributary_term(${before} || p.id::text)
			from unnest(${named}) k (id) cross join lateral (select k.id union select * from tributary_same_patient($1, k.id)) p
		)
	))`;
}

export function throughTermsCondition(
	{ prefix, table, clauses }: Clause & { kind: 'through-terms' },
	alias: string,
	parameters: Parameters,
	whereOf: Where,
): string {
	const target = parameters.alias();
	const before = parameters.add(prefix, 'text');
	const id = table === 'patient' ? 'p.id' : `${target}.id`;
	const same = table === 'patient' ? ` cross join lateral tributary_same_patient($1, ${target}.id) p (id)` : '';
	return `${alias}.terms && array(select tributary_term(${before} || ${id}::text) from ${relation(table)} ${target}${same} where ${whereOf(clauses, target, parameters)})`;
}

/** The row of a type that a reference names. PostgreSQL takes most of a millisecond for a pattern that bounds the length of the id. */
export function namedRow(reference: string, type: string): string {
	return `tributary_row_id(left(substring(${reference} from '^${type}/([A-Za-z0-9.-]+)'), 64))`;
}

/** Paths and types come from the definitions of the parameters, never from a request. */
function referencedIds(alias: string, path: string, type: string): string {
	const references = `jsonb_path_query_array(${jsonOf(`${alias}.resource`)}, '${path.replaceAll("'", "''")}[*]')`;
	return `select ${namedRow('e.v', type)} as id from jsonb_array_elements_text(${references}) e (v) where ${alias}.site_id = $1`;
}

export function throughElementCondition(
	{ path, type, table, clauses }: Clause & { kind: 'through-element' },
	alias: string,
	parameters: Parameters,
	whereOf: Where,
): string {
	const target = parameters.alias();
	const found = `select ${target}.id from ${relation(table)} ${target} where ${whereOf(clauses, target, parameters)}`;
	return `exists (select from (${referencedIds(alias, path, type)}) n where n.id in (${found}))`;
}

export function referringElementCondition(
	{ table, paths, type, clauses }: Clause & { kind: 'referring-element' },
	alias: string,
	parameters: Parameters,
	whereOf: Where,
): string {
	const source = parameters.alias();
	const where = whereOf(clauses, source, parameters);
	const named = paths.map((path) => referencedIds(source, path, type)).join(' union all ');
	// A merge leaves references as they are, so who is named may stand for the survivor.
	const [id, followed] = type === 'Patient' ? ['s.id', ` cross join lateral ${survivorsToo} s (id)`] : ['n.id', ''];
	// As an array, whatever the planner thinks of how many there are: it leads to rows by their ids.
	return `${alias}.id = any(array(
		select ${id} from ${relation(table)} ${source} cross join lateral (${named}) n (id)${followed} where ${where}
	))`;
}

/** The named patient, and the one who replaced it. */
const survivorsToo = `(
	select n.id union all
	select tributary_survivor($1, p.merged_into) from patient p where p.site_id = $1 and p.id = n.id and p.merged_into is not null
)`;
