import { createHash } from 'node:crypto';
import { isUuid, nilId } from '#core/id.ts';
import type { Clause, DateAlternative, SearchPlan, Token } from '#record/search-plan.ts';
import type { ReadStatement } from '../reader.ts';

/** A statement with its values; the site is always the first. */
export interface Query {
	statement: ReadStatement;
	values: readonly unknown[];
}

/** The columns of a row that is rendered, in the order in which `readRow` takes them. */
export const rowColumns = `coalesce(r.given_id, r.id::text), r.version, to_char(r.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), r.source, r.meta, r.resource`;

export function readStatement(table: string): ReadStatement {
	return { name: `read_${table}`, text: `select ${rowColumns} from ${table} r where r.site_id = $1 and r.id = $2` };
}

/**
 * One row more than the page holds is looked up, to know whether there is a next one; `found` counts them all. Rows after
 * the one that passes `bytesMax` stay in the database: the page ends early then.
 */
export function searchQuery(siteId: string, plan: SearchPlan, bytesMax: number): Query {
	const parameters = new Parameters(siteId);
	const where = whereOf(plan, parameters);
	const after = parameters.add(plan.after?.id ?? nilId, 'uuid');
	const limit = parameters.add(plan.count + 1, 'integer');
	const text = `
select ${rowColumns}, r.found from (
	select m.*, count(*) over () as found,
		sum(octet_length(m.resource)) over (order by m.id rows unbounded preceding) - octet_length(m.resource) as bytes_before
	from (
		select r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, r.resource from ${plan.table} r
		where ${where} and r.id > ${after}
		order by r.id limit ${limit}
	) m
) r
where r.bytes_before < ${parameters.add(bytesMax, 'bigint')}
order by r.id`;
	return parameters.query(text, plan);
}

export function countQuery(siteId: string, plan: SearchPlan): Query {
	const parameters = new Parameters(siteId);
	return parameters.query(`select count(*) from ${plan.table} r where ${whereOf(plan, parameters)}`, plan);
}

class Parameters {
	readonly #values: unknown[];

	constructor(siteId: string) {
		this.#values = [siteId];
	}

	add(value: unknown, type: string): string {
		this.#values.push(value);
		return `$${this.#values.length}::${type}`;
	}

	query(text: string, plan: SearchPlan): Query {
		return { statement: { name: isPrepared(plan) ? nameOf(text) : undefined, text }, values: this.#values };
	}
}

/**
 * Prepared statements stay on the connection, so only shapes of which there are few are prepared; and only those for which
 * one plan suits every value, because a clause leads to few rows by itself. For the rest, whether an index or the order of
 * ids is the shorter way depends on how common the value is: they are planned anew each time.
 */
function isPrepared({ clauses }: SearchPlan): boolean {
	if (clauses.length > 2 || clauses.some((clause) => alternativesOf(clause) > 1)) return false;
	return clauses.length === 0 || clauses.some(isSelective) || (clauses.length === 1 && clauses[0]?.kind === 'code');
}

function isSelective(clause: Clause): boolean {
	if (clause.kind === 'date')
		return clause.alternatives.every((alternative) => alternative.prefix === 'eq' && isWholeDay(clause, alternative));
	return clause.kind === 'reference' || clause.kind === 'identifier';
}

function alternativesOf(clause: Clause): number {
	switch (clause.kind) {
		case 'present':
			return 1;
		case 'code':
		case 'string':
			return clause.values.length;
		case 'reference':
			return clause.ids.length;
		case 'coding':
		case 'identifier':
			return clause.tokens.length;
		case 'date':
			return clause.alternatives.length;
	}
}

function nameOf(text: string): string {
	return `search_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

function whereOf({ clauses }: SearchPlan, parameters: Parameters): string {
	return ['r.site_id = $1', ...clauses.map((clause) => conditionOf(clause, parameters))].join(' and ');
}

function conditionOf(clause: Clause, parameters: Parameters): string {
	switch (clause.kind) {
		case 'present':
			return `r.${clause.column} is not null`;
		case 'code':
			return oneOf(`r.${clause.column}`, clause.values, 'text', parameters);
		case 'reference':
			return oneOf(`r.${clause.column}`, clause.ids.filter(isUuid), 'uuid', parameters);
		case 'string':
			return anyOf(
				clause.values.map((value) => `r.${clause.column} like ${parameters.add(`%${value.replace(/[\\%_]/g, '\\$&')}%`, 'text')}`),
			);
		case 'coding':
			return anyOf(clause.tokens.map((token) => codingCondition(clause, token, parameters)));
		case 'identifier':
			return identifierCondition(clause.tokens, parameters);
		case 'date':
			return anyOf(clause.alternatives.map((alternative) => dateCondition(clause, alternative, parameters)));
	}
}

function anyOf(conditions: readonly string[]): string {
	return conditions.length === 0 ? 'false' : `(${conditions.join(' or ')})`;
}

/** A single value is compared by `=`: only then do the rows come from an index in the order of their ids. */
function oneOf(column: string, values: readonly string[], type: string, parameters: Parameters): string {
	const [first, ...others] = values;
	if (first === undefined) return 'false';
	return others.length === 0 ? `${column} = ${parameters.add(first, type)}` : `${column} = any(${parameters.add(values, `${type}[]`)})`;
}

/** One subquery for all alternatives: an OR of subqueries would be tried on every row of the site. */
function identifierCondition(tokens: readonly Token[], parameters: Parameters): string {
	const alternatives = tokens.map(({ system, value }) => {
		const parts: string[] = [];
		if (value !== undefined) parts.push(`i.value = ${parameters.add(value, 'text')}`);
		if (system !== undefined) parts.push(`i.system = ${parameters.add(system, 'text')}`);
		return parts.join(' and ');
	});
	return `r.id in (select i.patient_id from patient_identifier i where i.site_id = $1 and ${anyOf(alternatives)})`;
}

function codingCondition(clause: Clause & { kind: 'coding' }, { system, value }: Token, parameters: Parameters): string {
	const first: string[] = [];
	first.push(value === undefined ? `r.${clause.valueColumn} is not null` : `r.${clause.valueColumn} = ${parameters.add(value, 'text')}`);
	if (system === '') first.push(`r.${clause.systemColumn} is null`);
	else if (system !== undefined) first.push(`r.${clause.systemColumn} = ${parameters.add(system, 'text')}`);
	const further = parameters.add(system === undefined ? value : `${system}|${value ?? ''}`, 'text');
	return `(${first.join(' and ')} or ${furtherCodings(`r.${clause.furtherColumn}`, further, value, parameters)})`;
}

/**
 * Of each further coding the array holds three tokens, the bare code last. Two codings are common and found by that of
 * the second, in an ordinary index; only observations with more are in the array's own index, which is dear to write.
 */
function furtherCodings(column: string, token: string, value: string | undefined, parameters: Parameters): string {
	if (value === undefined) return `${column} @> array[${token}]`;
	const second = `${column} is not null and ${column}[3] = ${parameters.add(value, 'text')}`;
	return `${second} and ${column} @> array[${token}] or array_length(${column}, 1) > 3 and ${column} @> array[${token}]`;
}

/** FHIR R4 §3.1.1.4.5 over ranges whose ends are excluded. A row without a date holds nulls and never matches. */
function dateCondition(clause: Clause & { kind: 'date' }, { prefix, low, high }: DateAlternative, parameters: Parameters): string {
	const start = `r.${clause.startColumn}`;
	const end = `r.${clause.endColumn}`;
	const from = () => parameters.add(low, clause.columnType);
	const to = () => parameters.add(high, clause.columnType);
	switch (prefix) {
		case 'eq':
			// A whole day within one day is that day; by `=` the rows come in the order of their ids.
			if (isWholeDay(clause, { low, high })) return `(${start} = ${from()} and ${end} = ${to()})`;
			return `(${start} >= ${from()} and ${start} < ${to()} and ${end} <= ${to()})`;
		case 'ne':
			return `(${start} < ${from()} or ${end} > ${to()})`;
		case 'lt':
			return `${start} < ${from()}`;
		case 'gt':
			return `${end} > ${to()}`;
		case 'ge':
			return `(${start} >= ${from()} or ${end} > ${to()})`;
		case 'le':
			return `(${start} < ${from()} or ${end} <= ${to()})`;
		case 'sa':
			return `${start} >= ${to()}`;
		case 'eb':
			return `${end} <= ${from()}`;
	}
}

function isWholeDay({ columnType }: Clause & { kind: 'date' }, { low, high }: Pick<DateAlternative, 'low' | 'high'>): boolean {
	return columnType === 'date' && Date.parse(high) - Date.parse(low) === 86_400_000;
}
