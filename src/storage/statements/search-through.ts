import type { Clause } from '#record/search-plan.ts';
import type { Parameters } from './parameters.ts';
import { relation } from './relation.ts';
import type { RowsMeant } from './search-leads.ts';

/** Conditions by columns that refer to other rows, and those of which exactly one may hold. */

type Where = (clauses: readonly Clause[], alias: string, parameters: Parameters, rows?: RowsMeant) => string;

/** The patient who replaced the one of the row, to the end of the chain of merges, or that one itself. */
export function survivorOf(alias: string): string {
	return `case when ${alias}.merged_into is null then ${alias}.id else tributary_survivor(${alias}.site_id, ${alias}.merged_into) end`;
}

export function throughCondition(
	{ column, table, key, clauses }: Clause & { kind: 'through' },
	alias: string,
	parameters: Parameters,
	whereOf: Where,
): string {
	const target = parameters.alias();
	const found = table === 'patient' && key === undefined ? survivorOf(target) : `${target}.${key ?? 'id'}`;
	const where = whereOf(clauses, target, parameters);
	// A key may be one of several ways to a row, and an OR of subqueries would be tried on every row.
	if (key !== undefined) return `${alias}.${column} = any(array(select ${found} from ${relation(table)} ${target} where ${where}))`;
	return `${alias}.${column} in (select ${found} from ${relation(table)} ${target} where ${where})`;
}

export function referringCondition(
	{ table, column, clauses }: Clause & { kind: 'referring' },
	alias: string,
	parameters: Parameters,
	whereOf: Where,
): string {
	const source = parameters.alias();
	return `${alias}.id in (select ${source}.${column} from ${relation(table)} ${source} where ${whereOf(clauses, source, parameters)})`;
}

/** Within another condition the rows of each clause are found by its own index, and joined. A row that is looked at anyway is only compared. */
export function eitherCondition(
	{ table, clauses }: Clause & { kind: 'either' },
	alias: string,
	parameters: Parameters,
	rows: RowsMeant,
	whereOf: Where,
): string {
	if (rows === 'later') return `(${clauses.map((clause) => `(${whereOf([clause], alias, parameters, rows)})`).join(' or ')})`;
	const found = clauses.map((clause) => {
		const row = parameters.alias();
		return `select ${row}.id from ${relation(table)} ${row} where ${whereOf([clause], row, parameters)}`;
	});
	return `${alias}.id in (${found.join(' union all ')})`;
}
