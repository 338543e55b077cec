import { createHash } from 'node:crypto';
import {
	boundedNumber,
	type IndexedParameter,
	type IndexedType,
	namedDigits,
	namedPowers,
	namedYears,
	rangeNames,
	startLengths,
} from '#record/search-entry.ts';
import { termTexts } from '#record/search-term.ts';
import type { Statement } from '../statement.ts';
import { relation } from './relation.ts';
import { jsonOf } from './stored-text.ts';

/** Statements that fill the index of elements (`search_entry`). */

/**
 * Selects the moment before which all is committed that was written ($1 is by how much the clocks of nodes may differ), the time, and the turns
 * of all sites. A transaction stamps what it writes when it begins.
 */
export const readTurns: Statement = {
	name: 'read_turns_to_index',
	text: `
select least(now(), min(a.xact_start)) - $1::interval, (extract(epoch from least(now(), min(a.xact_start)) - $1::interval) * 1000)::bigint,
	(extract(epoch from now()) * 1000)::bigint, (select json_object_agg(t.site_id, t.sequence::text) from site_turn t)
from pg_stat_activity a
where a.datname = current_database() and a.backend_xid is not null and a.pid <> pg_backend_pid()`,
};

/** A digest of what is looked for in a type, and of the names that its values have. */
export function digestOf({ parameters }: IndexedType): string {
	const names = { rangeNames, namedYears, namedPowers, namedDigits, startLengths };
	return createHash('sha256').update(JSON.stringify({ parameters, names })).digest('hex').slice(0, 16);
}

/** Begins the types of a site that are new to it, and those of which other elements are indexed now. */
export const beginTypes: Statement = {
	name: 'begin_search_progress',
	text: `
insert into search_progress as p (site_id, resource_type, definition)
select $1, k.resource_type, k.definition from unnest($2::text[], $3::text[]) k (resource_type, definition)
on conflict (site_id, resource_type) do update set definition = excluded.definition, until = '-infinity', until_id = default
where p.definition <> excluded.definition`,
};

/** Selects the types of a site with rows that are not taken in, though they were written before the moment. */
export function findWaiting(types: readonly IndexedType[]): Statement {
	const own = types.filter(({ table }) => !table.includes('/'));
	const shared = types.find(({ table }) => table.includes('/'))?.table.split('/')[0];
	const waits = (table: string, where: string) =>
		`exists (select from ${table} r where r.site_id = $1${where} and (r.last_updated, r.id) > (p.until, p.until_id) and r.last_updated < $2::timestamptz)`;
	const cases = own.map(({ type, table }) => `when '${type}' then ${waits(table, '')}`);
	const others = shared === undefined ? 'false' : waits(shared, ' and r.resource_type = p.resource_type and not r.deleted');
	return {
		name: 'find_waiting_to_index',
		text: `
select p.resource_type from search_progress p
where p.site_id = $1 and case p.resource_type ${cases.join(' ')} else ${others} end`,
	};
}

/**
 * Takes the next rows of a type into the index and says how many there were; $2 is the moment before which they were written. Another node
 * that is at it passes over the type.
 */
export function takeIn({ type, table, parameters }: IndexedType, rowsMax: number): Statement {
	const texts = [...new Set(parameters.flatMap(textsOf))];
	return {
		name: `index_${type}`,
		text: `
with p as materialized (
	select until, until_id from search_progress where site_id = $1 and resource_type = '${type}' for update skip locked
), batch as materialized (
	select r.* from p cross join lateral (
		select r.*, ${jsonOf('r.resource')} as j, r.meta::jsonb as m from ${relation(table)} r
		where r.site_id = $1 and (r.last_updated, r.id) > (p.until, p.until_id) and r.last_updated < $2::timestamptz
		order by r.last_updated, r.id limit ${rowsMax}
	) r
), written as (
	insert into search_entry as e (site_id, resource_type, id, terms)
	select $1, '${type}', b.id, array(select tributary_term(t.x) from (select distinct t.x from (${texts.join('\n\t\tunion all ')}) t (x) where t.x is not null) t)
	from batch b
	on conflict (site_id, resource_type, id) do update set terms = excluded.terms where e.terms <> excluded.terms
), last as (
	select b.last_updated, b.id from batch b order by b.last_updated desc, b.id desc limit 1
), kept as (
	update search_progress p set
		until = case when c.n < ${rowsMax} then greatest(p.until, $2::timestamptz) else (select last_updated from last) end,
		until_id = case when c.n < ${rowsMax} then default_id.id else (select id from last) end
	from (select count(*) as n from batch) c, (values ('00000000-0000-0000-0000-000000000000'::uuid)) default_id (id)
	where p.site_id = $1 and p.resource_type = '${type}' and exists (select from p)
)
select count(*) from batch`,
	};
}

const literal = (text: string) => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\u0001', '\\x01')}'`;

/** A path of a row, as a literal that finds its items. */
function itemPath(path: string): string {
	// A predicate, or a path with a filter, defines its own results; any other path may end in a list.
	const items = /[?=]/.test(path) ? path : `${path}[*]`;
	return `'${items.replaceAll("'", "''")}'`;
}

/** Selects the items of paths, each as `e.v`. */
function itemsOf(paths: readonly string[], from: 'b.j' | 'b.m'): string {
	const [only, ...others] = paths.map(itemPath);
	if (only !== undefined && others.length === 0) return `jsonb_path_query(${from}, ${only}) e (v)`;
	return `jsonb_array_elements(${paths.map((path) => `jsonb_path_query_array(${from}, ${itemPath(path)})`).join(' || ')}) e (v)`;
}

/**
 * Asks whether the row `b` has any of the elements with which paths begin. Most rows have few of them, and this costs a tenth of following a path.
 * Other paths than names of elements may find something where nothing is.
 */
function hasAny(paths: readonly string[], from: 'b.j' | 'b.m'): string {
	const names = paths.map((path) => /^\$\.(\w+)(\.\w+)*$/.exec(path)?.[1]);
	const quoted = [...new Set(names)].map((name) => `'${name}'`);
	return names.includes(undefined) ? 'true' : `${from} ?| array[${quoted.join(', ')}]`;
}

/** Selects a text of the row `b`. */
function select(text: string, from = '(values (1)) one (row)', where = 'true'): string {
	return `select ${text} from ${from} where b.site_id = $1 and ${where}`;
}

/** Statements that select the texts of the terms of the row `b`. */
function textsOf({ scope, value, presence }: IndexedParameter): string[] {
	const present = literal(termTexts.present(scope));
	const ofPaths = (paths: readonly string[], from: 'b.j' | 'b.m' = 'b.j') =>
		select(
			present,
			undefined,
			`${hasAny(paths, from)} and (${paths.map((path) => `jsonb_path_exists(${from}, ${itemPath(path)})`).join(' or ')})`,
		);
	const given = presence === undefined || presence.length === 0 ? [] : [ofPaths(presence)];
	switch (value.kind) {
		case 'token':
			return [...given, ofPaths(value.paths, sourceOf(value.of)), ...tokenTexts(scope, value)];
		case 'uri': {
			const text = `${literal(termTexts.text(scope, ''))} || (e.v #>> '{}')`;
			return [
				...given,
				ofPaths(value.paths, sourceOf(value.of)),
				select(text, itemsOf(value.paths, sourceOf(value.of)), hasAny(value.paths, sourceOf(value.of))),
			];
		}
		case 'reference': {
			return [
				...given,
				ofPaths([value.path]),
				select(`tributary_reference_text(${literal(scope)}, e.v #>> '{}')`, itemsOf([value.path], 'b.j'), hasAny([value.path], 'b.j')),
				...logicalTexts(scope, `${value.path.replace(/\.reference$/, '')}.identifier`),
			];
		}
		case 'other-reference': {
			const { path, column } = value;
			// Where the column has the row, the text of the resource is not looked into.
			const isOther = `b.${column} is null`;
			const [reference, identifier] = [`${path}.reference`, `${path}.identifier`];
			return [
				select(present, undefined, `${isOther} and ${hasAny([path], 'b.j')} and jsonb_path_exists(b.j, ${itemPath(reference)})`),
				select(
					`tributary_reference_text(${literal(scope)}, e.v #>> '{}')`,
					itemsOf([reference], 'b.j'),
					`${isOther} and ${hasAny([path], 'b.j')}`,
				),
				ofPaths([identifier]),
				...logicalTexts(scope, identifier),
			];
		}
		case 'string': {
			const starts = startLengths.map((length) => `${literal(termTexts.start(scope, length, ''))} || left(s.plain, ${length})`);
			const plain = `(select tributary_plain(e.v #>> '{}') as plain offset 0) s`;
			const from = `${itemsOf(value.paths, 'b.j')} cross join lateral ${plain}`;
			return [...given, ofPaths(value.paths), select(`unnest(array[${starts.join(', ')}])`, from, hasAny(value.paths, 'b.j'))];
		}
		case 'sound': {
			const sound = `${literal(termTexts.soundPrefix(scope))} || n.sound`;
			const from = `${itemsOf(value.paths, 'b.j')} cross join lateral tributary_sounds(e.v #>> '{}') n (sound)`;
			return [...given, ofPaths(value.paths), select(sound, from, hasAny(value.paths, 'b.j'))];
		}
		case 'date': {
			const range = `tributary_date_range(e.v) x (d) cross join lateral tributary_range_texts(${literal(scope)}, lower(x.d), upper(x.d)) n (text)`;
			return [
				...given,
				ofPaths(value.paths),
				select('n.text', `${itemsOf(value.paths, 'b.j')} cross join lateral ${range}`, hasAny(value.paths, 'b.j')),
			];
		}
		case 'number':
		case 'quantity':
			return [...given, ofPaths(value.paths), ...numberTexts(scope, value.kind, value.paths)];
		default:
			return [...given, ...columnTexts(scope, present, value)];
	}
}

/** The identifier of a logical reference. */
function logicalTexts(scope: string, path: string): string[] {
	const identifier = [`${path}.value`];
	return [select(`${literal(termTexts.logicalValue(scope, ''))} || (e.v #>> '{}')`, itemsOf(identifier, 'b.j'), hasAny(identifier, 'b.j'))];
}

function sourceOf(of: 'meta' | undefined): 'b.j' | 'b.m' {
	return of === 'meta' ? 'b.m' : 'b.j';
}

function tokenTexts(scope: string, { paths, form, of }: IndexedParameter['value'] & { kind: 'token' }): string[] {
	const code = form === 'value' ? `e.v #>> '{}'` : `e.v ->> '${form === 'coding' ? 'code' : 'value'}'`;
	return [select(`${literal(termTexts.code(scope, ''))} || (${code})`, itemsOf(paths, sourceOf(of)), hasAny(paths, sourceOf(of)))];
}

function numberTexts(scope: string, kind: IndexedParameter['value']['kind'], paths: readonly string[]): string[] {
	const number = kind === 'number' ? 'e.v' : `e.v -> 'value'`;
	const plain = `case jsonb_typeof(${number}) when 'number' then (${number})::numeric end`;
	const items = itemsOf(paths, 'b.j');
	const numbers = select(
		'n.text',
		`${items} cross join lateral tributary_number_texts(${literal(scope)}, ${plain}) n (text)`,
		hasAny(paths, 'b.j'),
	);
	return kind === 'number'
		? [numbers]
		: [numbers, select(literal(termTexts.number(scope, boundedNumber)), items, `${hasAny(paths, 'b.j')} and e.v ? 'comparator'`)];
}

type ColumnValue = Exclude<IndexedParameter['value'], { paths: readonly string[] } | { path: string }>;

function columnTexts(scope: string, present: string, value: ColumnValue): string[] {
	const filled = (before: string, column: string) =>
		select(`unnest(array[${present}, ${literal(before)} || ${column}])`, undefined, `${column} is not null`);
	switch (value.kind) {
		case 'code-column':
			return [filled(termTexts.code(scope, ''), `b.${value.column}`)];
		case 'text-column':
			return [filled(termTexts.text(scope, ''), `b.${value.column}`)];
		case 'row-column':
			return [filled(termTexts.rowPrefix(scope, value.type), `b.${value.column}::text`)];
		case 'range-columns': {
			const [start, end] = [`b.${value.start}`, `b.${value.end}`];
			const range = `tributary_range_texts(${literal(scope)}, ${start}, ${end}) n (text)`;
			return [select(present, undefined, `${start} is not null`), select('n.text', range)];
		}
	}
}
