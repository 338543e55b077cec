import { indexText } from '#record/index-text.ts';
import type { Clause, DateAlternative, ElementTest, QuantityAlternative, Token } from '#record/search-plan.ts';
import type { Parameters } from './parameters.ts';
import { leadCondition, type RowsMeant } from './search-leads.ts';
import {
	patientTermsCondition,
	referringElementCondition,
	termsCondition,
	throughElementCondition,
	throughTermsCondition,
} from './search-terms.ts';
import { eitherCondition, referringCondition, survivorOf, throughCondition } from './search-through.ts';
import { jsonOf, wholeText } from './stored-text.ts';
import { gramsCondition } from './text-grams.ts';

/** Builds the condition of a clause on the rows that `alias` names. The site is always `$1`. */
export function conditionOf(clause: Clause, alias: string, parameters: Parameters, rows: RowsMeant = 'all'): string {
	switch (clause.kind) {
		case 'member':
			return clause.values.length === 0 ? 'false' : `${alias}.${clause.column} && ${parameters.add(clause.values, 'text[]')}`;
		case 'listed':
			return `cardinality(${alias}.${clause.column}) > 0`;
		case 'present':
			return `${alias}.${clause.column} is not null`;
		case 'absent':
			return `${alias}.${clause.column} is null`;
		case 'code':
			return equalsAny(
				`${alias}.${clause.column}`,
				clause.values.map((value) => indexText(value)),
				'text',
				parameters,
			);
		case 'reference':
			return clause.column === 'patient_id'
				? patientCondition(`${alias}.patient_id`, clause.ids, parameters)
				: equalsAny(`${alias}.${clause.column}`, clause.ids, 'uuid', parameters);
		case 'string':
			// The text itself is compared first: within other conditions PostgreSQL keeps the order, and to make grams of a row costs more.
			return [textCondition(clause, alias, parameters), gramsCondition(clause, alias, parameters) ?? []].flat().join(' and ');
		case 'identifier':
			return identifierCondition(clause.tokens, alias, parameters);
		case 'coding':
			return anyOf(clause.tokens.map((token) => codingCondition(clause, token, alias, parameters)));
		case 'date':
			return dateCondition(clause, alias, parameters);
		case 'moment':
			return anyOf(clause.alternatives.map((alternative) => momentCondition(`${alias}.${clause.column}`, alternative, parameters)));
		case 'element':
			return rows === 'later' ? namedFirst(clause, alias, parameters) : elementCondition(clause, alias, parameters);
		case 'text':
			return equalsAny(`${alias}.${clause.column}`, clause.values, 'text', parameters);
		case 'items': {
			const item = parameters.alias();
			const found = `jsonb_array_elements(jsonb_path_query_array(${jsonOf(`${alias}.resource`)}, '${clause.path}[*]'))`;
			return `exists (select from ${found} as ${item} (resource) where ${clause.clauses.map((part) => conditionOf(part, item, parameters)).join(' and ')})`;
		}
		case 'all':
			return clause.clauses.length === 0
				? 'true'
				: `(${clause.clauses.map((part) => conditionOf(part, alias, parameters, rows)).join(' and ')})`;
		case 'any':
			return anyOf(clause.clauses.map((part) => conditionOf(part, alias, parameters, rows === 'later' ? rows : 'all')));
		case 'not':
			// Most rows fulfil it, so nothing leads to them.
			return `(${conditionOf(clause.clause, alias, parameters, 'later')}) is not true`;
		case 'led':
			return `${leadCondition(clause, alias, parameters, rows, whereOf)} and ${conditionOf(clause.clause, alias, parameters, rows)}`;
		case 'either':
			return eitherCondition(clause, alias, parameters, rows, whereOf);
		case 'through':
			return throughCondition(clause, alias, parameters, whereOf);
		case 'referring':
			return referringCondition(clause, alias, parameters, whereOf);
		case 'terms':
			return termsCondition(clause, alias, parameters);
		case 'patient-terms':
			return patientTermsCondition(clause, alias, parameters);
		case 'through-terms':
			return throughTermsCondition(clause, alias, parameters, whereOf);
		case 'through-element':
			return throughElementCondition(clause, alias, parameters, whereOf);
		case 'referring-element':
			return referringElementCondition(clause, alias, parameters, whereOf);
	}
}

/** All clauses on the rows of this site. */
export function whereOf(clauses: readonly Clause[], alias: string, parameters: Parameters, rows: RowsMeant = 'all'): string {
	return [`${alias}.site_id = $1`, ...clauses.map((clause) => conditionOf(clause, alias, parameters, rows))].join(' and ');
}

/** The condition that a column has one of the texts, without what leads to such rows. */
export function textCondition({ column, values }: Clause & { kind: 'string' }, alias: string, parameters: Parameters): string {
	return anyOf(values.map((value) => `${alias}.${column} like ${parameters.add(pattern(value), 'text')}`));
}

function anyOf(alternatives: readonly string[]): string {
	if (alternatives.length === 0) return 'false';
	return alternatives.length === 1 ? String(alternatives[0]) : `(${alternatives.join(' or ')})`;
}

function pattern(text: string): string {
	return `%${escaped(text)}%`;
}

function escaped(text: string): string {
	return text.replace(/[\\%_]/g, '\\$&');
}

function equalsAny(column: string, values: readonly string[], type: string, parameters: Parameters): string {
	const [first, ...others] = values;
	if (first === undefined) return 'false';
	return others.length === 0 ? `${column} = ${parameters.add(first, type)}` : `${column} = any(${parameters.add(values, `${type}[]`)})`;
}

/** Whoever names a patient that was merged means the survivor. The patients are looked up once, whatever the number of rows. */
function patientCondition(column: string, ids: readonly string[], parameters: Parameters): string {
	const [first, ...others] = ids;
	if (first === undefined) return 'false';
	const alias = parameters.alias();
	if (others.length === 0) {
		const id = parameters.add(first, 'uuid');
		return `${column} = coalesce((select ${survivorOf(alias)} from patient ${alias} where ${alias}.site_id = $1 and ${alias}.id = ${id}), ${id})`;
	}
	const named = parameters.add(ids, 'uuid[]');
	return `${column} = any(${named} || array(select ${survivorOf(alias)} from patient ${alias} where ${alias}.site_id = $1 and ${alias}.id = any(${named}) and ${alias}.merged_into is not null))`;
}

/** Uses one subquery for all alternatives, because an OR of subqueries would be tried on every row of the site. */
function identifierCondition(tokens: readonly Token[], alias: string, parameters: Parameters): string {
	const alternatives = tokens.map(({ system, value }) => {
		const parts: string[] = [];
		if (value !== undefined) parts.push(`i.value = ${parameters.add(value, 'text')}`);
		if (system !== undefined) parts.push(authorityCondition('i.system', system, value !== undefined, parameters));
		return parts.length === 0 ? 'true' : parts.join(' and ');
	});
	return `${alias}.id in (select i.patient_id from patient_identifier i where i.site_id = $1 and ${anyOf(alternatives)})`;
}

/**
 * An authority is found by each of its names. Few rows have one value, and most of them the system as it is asked for: then the other names
 * are not looked up. Without a value they are looked up once.
 */
function authorityCondition(column: string, system: string, hasValue: boolean, parameters: Parameters): string {
	const named = parameters.add(system, 'text');
	if (system === '') return `${column} = ${named}`;
	if (hasValue) return `(${column} = ${named} or ${column} = any(authority_systems($1, array[${named}])))`;
	return `${column} in (select unnest(authority_systems($1, array[${named}])))`;
}

function codingCondition(
	clause: Clause & { kind: 'coding' },
	{ system, value: code }: Token,
	alias: string,
	parameters: Parameters,
): string {
	const value = code === undefined ? undefined : indexText(code);
	const first: string[] = [];
	const column = `${alias}.${clause.valueColumn}`;
	first.push(value === undefined ? `${column} is not null` : `${column} = ${parameters.add(value, 'text')}`);
	if (system === '') first.push(`${alias}.${clause.systemColumn} is null`);
	else if (system !== undefined) first.push(`${alias}.${clause.systemColumn} = ${parameters.add(system, 'text')}`);
	const further = parameters.add(system === undefined ? (value ?? '') : indexText(`${system}|${code ?? ''}`), 'text');
	return `(${first.join(' and ')} or ${furtherCodings(`${alias}.${clause.furtherColumn}`, further, value, parameters)})`;
}

/**
 * The array holds three tokens for each further coding, the bare code last. Two codings are common and are found by the code of the second,
 * in
 * an ordinary index. Only observations with more are in the array's own index, which is expensive to write.
 */
function furtherCodings(column: string, token: string, value: string | undefined, parameters: Parameters): string {
	if (value === undefined) return `${column} @> array[${token}]`;
	const second = `${column} is not null and ${column}[3] = ${parameters.add(value, 'text')}`;
	return `${second} and ${column} @> array[${token}] or array_length(${column}, 1) > 3 and ${column} @> array[${token}]`;
}

/** Where a row has several ranges, its columns hold the first and the last moment, and one of the ranges must match. */
function dateCondition(clause: Clause & { kind: 'date' }, alias: string, parameters: Parameters): string {
	const range = (start: string, end: string) =>
		anyOf(clause.alternatives.map((alternative) => rangeCondition(clause, alternative, [start, end], parameters)));
	const single = range(`${alias}.${clause.startColumn}`, `${alias}.${clause.endColumn}`);
	if (clause.several === undefined) return single;
	const { column, name } = clause.several;
	const values = `${alias}.${column}`;
	const each = range(`(v.item ->> 0)::${clause.columnType}`, `(v.item ->> 1)::${clause.columnType}`);
	return `(${single} and (${values} is null or not ${values}::jsonb ? '${name}') or ${values} is not null and exists (
		select from jsonb_array_elements(${values}::jsonb -> '${name}') v (item) where ${each}))`;
}

/** FHIR R4 §3.1.1.4.5 over ranges whose ends are excluded. A row without a date holds nulls and never matches. */
function rangeCondition(
	clause: Pick<Clause & { kind: 'date' }, 'columnType' | 'longestMs'>,
	{ prefix, low, high }: DateAlternative,
	[start, end]: readonly [string, string],
	parameters: Parameters,
): string {
	const from = () => parameters.add(low, clause.columnType);
	const to = () => parameters.add(high, clause.columnType);
	// If no range is long, its end limits its start, which bounds the walk through the index of the starts.
	const { longestMs } = clause;
	const startsAfter = (moment: () => string) =>
		longestMs === undefined ? '' : `${start} > ${moment()} - interval '${longestMs} milliseconds' and `;
	const startsBefore = (moment: () => string) => (longestMs === undefined ? '' : `${start} < ${moment()} and `);
	switch (prefix) {
		case 'eq':
			// A whole day within one day is that day; with `=` the rows come in the order of their ids.
			if (isWholeDay(clause, { low, high })) return `(${start} = ${from()} and ${end} = ${to()})`;
			return `(${start} >= ${from()} and ${start} < ${to()} and ${end} <= ${to()})`;
		case 'ne':
			return `(${start} < ${from()} or ${end} > ${to()})`;
		case 'lt':
			return `${start} < ${from()}`;
		case 'gt':
			return `${startsAfter(to)}${end} > ${to()}`;
		case 'ge':
			return `${startsAfter(from)}(${start} >= ${from()} or ${end} > ${to()})`;
		case 'le':
			return `${startsBefore(to)}(${start} < ${from()} or ${end} <= ${to()})`;
		case 'sa':
			return `${start} >= ${to()}`;
		case 'eb':
			return `${startsBefore(from)}${end} <= ${from()}`;
	}
}

export function isWholeDay(
	{ columnType }: Pick<Clause & { kind: 'date' }, 'columnType'>,
	{ low, high }: Pick<DateAlternative, 'low' | 'high'>,
): boolean {
	return columnType === 'date' && Date.parse(high) - Date.parse(low) === 86_400_000;
}

/** Treats a moment as a range of no length. */
function momentCondition(column: string, { prefix, low, high }: DateAlternative, parameters: Parameters): string {
	const from = () => parameters.add(low, 'timestamptz');
	const to = () => parameters.add(high, 'timestamptz');
	switch (prefix) {
		case 'eq':
			return `(${column} >= ${from()} and ${column} < ${to()})`;
		case 'ne':
			return `(${column} < ${from()} or ${column} >= ${to()})`;
		case 'gt':
		case 'sa':
			return `${column} >= ${to()}`;
		case 'lt':
		case 'eb':
			return `${column} < ${from()}`;
		case 'ge':
			return `${column} >= ${from()}`;
		case 'le':
			return `${column} < ${to()}`;
	}
}

/**
 * Looks for the values of a token in the text of a row before that is read as JSON, which costs ten times as much: behind a load, a search
 * looks at thousands of rows that are not in the index of elements yet. A text with a backslash may write a value in another way.
 */
function namedFirst(clause: Clause & { kind: 'element' }, alias: string, parameters: Parameters): string {
	const condition = elementCondition(clause, alias, parameters);
	const { test, of } = clause;
	// The text of a number is not always that of the value.
	if (of === 'meta' || test.kind !== 'token' || test.form === 'value') return condition;
	const values = test.tokens.flatMap(({ value }) => value ?? []);
	if (values.length < test.tokens.length) return condition;
	const has = [...values.map((value) => parameters.add(value, 'text')), String.raw`'\'`].map((text) => `strpos(t.text, ${text}) > 0`);
	return `case when (select ${has.join(' or ')} from (select ${wholeText(`${alias}.resource`)} as text offset 0) t) then ${condition} end`;
}

/** Paths come from the definitions of the parameters, never from a request. In lax mode lists on the way are walked through. */
function elementCondition({ paths, test, of }: Clause & { kind: 'element' }, alias: string, parameters: Parameters): string {
	const queries = paths.map((path) => {
		// A predicate, or a path with a filter, defines its own results; any other path may end in a list.
		const items = /[?=]/.test(path) ? path : `${path}[*]`;
		return `jsonb_path_query_array(d.j, '${items.replaceAll("'", "''")}')`;
	});
	// `offset 0`: the text is read as JSON once, not once for each path.
	const found = `(select ${of === 'meta' ? `${alias}.meta::jsonb` : jsonOf(`${alias}.resource`)} as j offset 0) d cross join lateral jsonb_array_elements(${queries.join(' || ')}) as e (v)`;
	// Few rows have anything in `meta`, and a partial index leads to those.
	const given = of === 'meta' ? `${alias}.meta is not null and ` : '';
	if (test.kind === 'exists') return `${given}exists (select from ${found})`;
	return `${given}exists (select from ${found} where ${testCondition(test, parameters)})`;
}

function testCondition(test: Exclude<ElementTest, { kind: 'exists' }>, parameters: Parameters): string {
	switch (test.kind) {
		case 'token':
			return anyOf(test.tokens.map((token) => tokenTest(test.form, token, parameters)));
		case 'reference':
			return equalsAny(`e.v #>> '{}'`, test.values, 'text', parameters);
		case 'text':
			return anyOf(test.values.map((value) => textTest(test.mode, value, parameters)));
		case 'sound': {
			const word = parameters.add(test.word, 'text');
			return `exists (select from tributary_sounds(e.v #>> '{}') n (sound) where n.sound = any (array(select tributary_sounds(${word}))))`;
		}
		case 'quantity':
			return anyOf(test.alternatives.map((alternative) => quantityTest(alternative, parameters)));
		case 'uri':
			return anyOf(test.values.map((value) => uriTest(test.mode, value, parameters)));
		case 'date':
			return `exists (select from tributary_date_range(e.v) x (d) where x.d is not null and ${dateTest(test.alternatives, parameters)})`;
		case 'number':
			return anyOf(test.alternatives.map(({ prefix, ...range }) => quantityRange(prefix, range, [plainNumber, plainNumber], parameters)));
	}
}

function tokenTest(form: 'coding' | 'identifier' | 'value', { system, value }: Token, parameters: Parameters): string {
	if (form === 'value') return value === undefined ? 'true' : `e.v #>> '{}' = ${parameters.add(value, 'text')}`;
	const member = form === 'coding' ? 'code' : 'value';
	const parts = [value === undefined ? `e.v ? '${member}'` : `e.v ->> '${member}' = ${parameters.add(value, 'text')}`];
	if (system === '') parts.push(`not (e.v ? 'system')`);
	else if (system !== undefined) parts.push(`e.v ->> 'system' = ${parameters.add(system, 'text')}`);
	return `(${parts.join(' and ')})`;
}

function uriTest(mode: 'is' | 'below', value: string, parameters: Parameters): string {
	const is = `e.v #>> '{}' = ${parameters.add(value, 'text')}`;
	if (mode === 'is') return is;
	return `(${is} or starts_with(e.v #>> '{}', ${parameters.add(`${value.replace(/\/$/, '')}/`, 'text')}))`;
}

function dateTest(alternatives: readonly DateAlternative[], parameters: Parameters): string {
	const range = ["coalesce(lower(x.d), '-infinity')", "coalesce(upper(x.d), 'infinity')"] as const;
	return anyOf(alternatives.map((alternative) => rangeCondition({ columnType: 'timestamptz' }, alternative, range, parameters)));
}

function textTest(mode: 'starts' | 'contains' | 'exact', value: string, parameters: Parameters): string {
	if (mode === 'exact') return `e.v #>> '{}' = ${parameters.add(value, 'text')}`;
	return `tributary_plain(e.v #>> '{}') like ${parameters.add(mode === 'contains' ? pattern(value) : `${escaped(value)}%`, 'text')}`;
}

/** FHIR R4 §3.1.1.4.11. A stored `<5` is everything below 5, a stored `>5` everything above. */
function quantityTest({ prefix, low, high, value, system, code }: QuantityAlternative, parameters: Parameters): string {
	const parts = [quantityRange(prefix, { low, high, value }, [storedLow, storedHigh], parameters)];
	if (system !== undefined) parts.push(`e.v ->> 'system' = ${parameters.add(system, 'text')}`);
	if (code !== undefined) {
		const unit = parameters.add(code, 'text');
		parts.push(system === undefined ? `(e.v ->> 'code' = ${unit} or e.v ->> 'unit' = ${unit})` : `e.v ->> 'code' = ${unit}`);
	}
	return `(${parts.join(' and ')})`;
}

const storedValue = `(e.v ->> 'value')::numeric`;
const storedLow = `case when e.v ->> 'comparator' in ('<', '<=') then '-infinity'::numeric else ${storedValue} end`;
/** A number that is no object. */
const plainNumber = `(e.v #>> '{}')::numeric`;
const storedHigh = `case when e.v ->> 'comparator' in ('>', '>=') then 'infinity'::numeric else ${storedValue} end`;

function quantityRange(
	prefix: QuantityAlternative['prefix'],
	range: Record<'low' | 'high' | 'value', string>,
	[lowest, highest]: readonly [string, string],
	parameters: Parameters,
): string {
	const add = (text: string) => parameters.add(text, 'numeric');
	switch (prefix) {
		case 'eq':
			return `(${lowest} >= ${add(range.low)} and ${highest} < ${add(range.high)})`;
		case 'ne':
			return `(${lowest} < ${add(range.low)} or ${highest} >= ${add(range.high)})`;
		case 'gt':
		case 'sa':
			return `${prefix === 'gt' ? highest : lowest} > ${add(range.value)}`;
		case 'lt':
		case 'eb':
			return `${prefix === 'lt' ? lowest : highest} < ${add(range.value)}`;
		case 'ge':
			return `${highest} >= ${add(range.value)}`;
		case 'le':
			return `${lowest} <= ${add(range.value)}`;
	}
}
