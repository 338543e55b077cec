import { otherNumberRank } from '#record/holdings/patient-identifiers.ts';
import type { ImagingAttribute, ImagingClause, ImagingQuery, NameGroup, QueryLevel } from '#record/imaging-query.ts';
import {
	type ImagingColumn,
	identifierJoin,
	imagingColumns,
	levelTables,
	nameJoin,
	shownAt,
	statedName,
	unmatchedColumns,
} from './imaging-columns.ts';
import { Parameters, type Query } from './parameters.ts';
import { survivorOf } from './search-through.ts';
import { mayHave } from './text-grams.ts';

/**
 * Conditions about a person look into the records of patients, or into what the images of studies without a patient state. Each has an
 * index of its own, which a condition on both would not use.
 */
type Source = 'record' | 'stated';

/** Builds the query of a page: the values of its attributes, then the position of each row; one row more than the page holds. */
export function imagingQuery(siteId: string, query: ImagingQuery): Query {
	const { level, clauses, attributes, count, offset } = query;
	const parameters = new Parameters(siteId);
	const { order } = levelTables[level];
	const limit = parameters.add(count + 1, 'integer');
	const skipped = offset === 0 ? '' : ` offset ${parameters.add(offset, 'integer')}`;
	const isOfPerson = level !== 'PATIENT' && clauses.some((clause) => unmatchedColumns[attributeOf(clause)] !== undefined);
	// A study without a patient has no number that a key could name.
	if (!isOfPerson || clauses.some((clause) => isOfIdentifier(clause))) {
		return parameters.query(`${pageOf(query, 'record', parameters)} limit ${limit}${skipped}`, false);
	}
	const reach = parameters.add(count + 1 + offset, 'integer');
	const pages = (['record', 'stated'] as const).map((source) => {
		const belongs = ` and t.patient_id is ${source === 'record' ? 'not null' : 'null'}`;
		return `(${pageOf(query, source, parameters, belongs)} limit ${reach})`;
	});
	const positions = order.map((_column, index) => `c${attributes.length + index}`);
	return parameters.query(`${pages.join(' union all ')} order by ${positions.join(', ')} limit ${limit}${skipped}`, false);
}

function pageOf({ level, clauses, attributes, after }: ImagingQuery, source: Source, parameters: Parameters, belongs = ''): string {
	const { order } = levelTables[level];
	const columns = [...attributes.map((attribute) => shownAt(level, attribute)), ...order].map((column, index) => `${column} as c${index}`);
	const { from, where } = partsOf(level, clauses, attributes, parameters, source);
	const behind = afterOf(order, after, parameters);
	return `select ${columns.join(', ')} from ${from} where ${where}${belongs}${behind} order by ${order.join(', ')}`;
}

const objectOrder = levelTables.IMAGE.order;

/** Selects instances with the data needed to read them: `count` of them and one more. */
export function retrievalQuery(
	siteId: string,
	clauses: readonly ImagingClause[],
	{ count, after }: Pick<ImagingQuery, 'count' | 'after'>,
): Query {
	const parameters = new Parameters(siteId);
	const { from, where } = partsOf('IMAGE', clauses, [], parameters);
	const behind = afterOf(objectOrder, after, parameters);
	const columns = `${objectOrder.join(', ')}, i.sop_class_uid, i.transfer_syntax_uid, i.object_key, i.bytes`;
	const text = `select ${columns} from ${from} where ${where}${behind} order by ${objectOrder.join(', ')} limit ${parameters.add(count + 1, 'integer')}`;
	return parameters.query(text, false);
}

/** Counts the instances by SOP class and transfer syntax. */
export function retrievalKindsQuery(siteId: string, clauses: readonly ImagingClause[]): Query {
	const parameters = new Parameters(siteId);
	const { from, where } = partsOf('IMAGE', clauses, [], parameters);
	const text = `select i.sop_class_uid, i.transfer_syntax_uid, count(*) from ${from} where ${where} group by 1, 2 order by 3 desc, 1, 2`;
	return parameters.query(text, false);
}

/** Tables and conditions. */
function partsOf(
	level: ImagingQuery['level'],
	clauses: readonly ImagingClause[],
	attributes: readonly ImagingAttribute[],
	parameters: Parameters,
	source: Source = 'record',
): { from: string; where: string } {
	const { from, alias, where } = levelTables[level];
	const identifiers = clauses.filter((clause) => isOfIdentifier(clause));
	const asked = identifiers.map((clause) => conditionOf(level, clause, parameters)).join(' and ');
	const forms = new Set(attributes.map((attribute) => imagingColumns[attribute].form));
	const usesName = [...attributes, ...clauses.map((clause) => attributeOf(clause))].includes('PatientName');
	const joins = [usesName ? nameJoin(level) : '', forms.has('identifier') || forms.has('issuer') ? identifierJoin(asked) : ''];
	const conditions = clauses.filter((clause) => !isOfIdentifier(clause)).map((clause) => conditionOf(level, clause, parameters, source));
	if (asked !== '') {
		// Whoever asks for a number of a patient who was merged means the survivor.
		conditions.push(
			`p.id in (select ${survivorOf('q')} from patient_identifier d join patient q on q.site_id = d.site_id and q.id = d.patient_id
				where d.site_id = $1 and d.rank < ${otherNumberRank} and ${asked})`,
		);
	}
	return { from: `${from}${joins.join('')}`, where: [`${alias}.site_id = $1 ${where}`, ...conditions].join(' and ') };
}

function afterOf(order: readonly string[], after: readonly string[] | undefined, parameters: Parameters): string {
	if (after === undefined) return '';
	const type = order[0] === 'p.id' ? 'uuid' : 'text';
	return ` and (${order.join(', ')}) > (${after.map((key) => parameters.add(key, type)).join(', ')})`;
}

function attributeOf(clause: ImagingClause): ImagingAttribute {
	if (clause.kind !== 'moment') return clause.attribute;
	return clause.of === 'study' ? 'StudyDate' : 'SeriesDate';
}

function isOfIdentifier(clause: ImagingClause): boolean {
	const { form } = imagingColumns[attributeOf(clause)];
	return form === 'identifier' || form === 'issuer';
}

function conditionOf(level: QueryLevel, clause: ImagingClause, parameters: Parameters, source: Source = 'record'): string {
	const attribute = attributeOf(clause);
	const column = (source === 'stated' ? unmatchedColumns[attribute] : undefined) ?? imagingColumns[attribute];
	// The index of names is that of records.
	const isIndexed = attribute === 'PatientName' && source === 'record';
	switch (clause.kind) {
		case 'equals':
			// A name matches without case, like a pattern without wildcards.
			return column.form === 'name'
				? nameCondition(level, isIndexed, column, clause.values, clause.group, parameters)
				: equalsCondition(column, clause.values, parameters);
		case 'like':
			return column.form === 'name'
				? nameCondition(level, isIndexed, column, clause.patterns, clause.group, parameters)
				: anyOf(clause.patterns.map((pattern) => likeCondition(column, pattern, parameters)));
		case 'words':
			return wordsCondition(level, isIndexed, column, clause.words, parameters);
		case 'integer':
			return `${column.matched} = any(${parameters.add(clause.values, 'integer[]')})`;
		case 'range':
			return rangeCondition(column, clause.from, clause.to, parameters);
		case 'moment':
			return momentCondition(String(column.matched), clause.from, clause.to, parameters);
	}
}

function anyOf(alternatives: readonly string[]): string {
	return alternatives.length === 0 ? 'false' : `(${alternatives.join(' or ')})`;
}

function equalsCondition(column: ImagingColumn, values: readonly string[], parameters: Parameters): string {
	const list = parameters.add(values, 'text[]');
	// An authority is found by each of its names.
	if (column.form === 'issuer') return `${column.shown} in (select unnest(authority_systems($1, ${list})))`;
	return column.form === 'list' ? `${column.matched} && ${list}` : `${column.shown} = any(${list})`;
}

/** Converts `*` and `?` to the wildcards of LIKE. */
function likePattern(pattern: string): string {
	return pattern
		.replace(/[\\%_]/g, '\\$&')
		.replaceAll('*', '%')
		.replaceAll('?', '_');
}

function likeCondition({ form, shown, matched }: ImagingColumn, pattern: string, parameters: Parameters): string {
	const like = likePattern(pattern);
	if (form === 'list') {
		const alias = parameters.alias();
		return `exists (select from unnest(${matched}) as ${alias} (v) where ${alias}.v like ${parameters.add(like, 'text')})`;
	}
	return `${shown} like ${parameters.add(like, 'text')}`;
}

/** One of the patterns fits the group of the name. */
function nameCondition(
	level: QueryLevel,
	isIndexed: boolean,
	{ shown, groups }: ImagingColumn,
	patterns: readonly string[],
	group: NameGroup = 0,
	parameters: Parameters,
): string {
	const name = groups?.[group] ?? shown;
	return anyOf(
		patterns.map((pattern) => {
			const whole = `tributary_plain(${name}) like tributary_plain(${parameters.add(likePattern(pattern), 'text')})`;
			return isIndexed ? [...nameParts(pattern, parameters, statedNames(level, group, pattern)), whole].join(' and ') : whole;
		}),
	);
}

/** Every word begins one of the name's, whose components and groups are parted by `^` and `=`. */
function wordsCondition(
	level: QueryLevel,
	isIndexed: boolean,
	{ shown }: ImagingColumn,
	words: readonly string[],
	parameters: Parameters,
): string {
	const name = `' ' || translate(tributary_plain(${shown}), '^=', '  ')`;
	const conditions = words.map((word) => {
		const begun = `${name} like tributary_plain(${parameters.add(`% ${likePattern(word)}%`, 'text')})`;
		return isIndexed ? [...nameParts(word, parameters, statedNames(level, undefined, word)), begun].join(' and ') : begun;
	});
	return conditions.join(' and ');
}

/** Tells where images may state a name that the record does not have. A word in Latin letters means a name of the record. */
function statedNames(level: QueryLevel, group: NameGroup | undefined, pattern: string): string[] {
	if (group === 0 || (group === undefined && /^[\p{Script=Latin}\p{Script=Common}\p{M}]*$/u.test(pattern))) return [];
	const columns = (['name_ideographic', 'name_phonetic'] as const).filter((_name, index) => group === undefined || index + 1 === group);
	return columns.map((column) => `${statedName(level, column)} is not null`);
}

/** Builds conditions on parts that the folded names of the patient must contain, so that their index is used. */
function nameParts(pattern: string, parameters: Parameters, elsewhere: readonly string[]): string[] {
	return pattern
		.split(/[\^*?\s]+/)
		.filter((literal) => literal.length >= 3)
		.map((literal) => {
			const part = parameters.add(`%${likePattern(literal)}%`, 'text');
			// No index of names leads to a name that may stand elsewhere.
			const text = elsewhere.length > 0 ? undefined : parameters.add(literal, 'text');
			const named = (fold: string) =>
				[`p.name like ${fold}(${part})`, text === undefined ? [] : mayHave('p.site_id, p.name', `${fold}(${text})`, parameters)]
					.flat()
					.join(' and ');
			// A name that a node of release 0.1.0 wrote is there with its accents only.
			return `(${[named('tributary_plain'), named('tributary_fold'), ...elsewhere].join(' or ')})`;
		});
}

function rangeCondition(
	{ form, matched, shown }: ImagingColumn,
	from: string | undefined,
	to: string | undefined,
	parameters: Parameters,
): string {
	if (form === 'date') return momentCondition(String(matched), from, to, parameters);
	const value = form === 'time' ? `nullif(substr(${matched}, 12, 8), '')` : String(matched);
	const type = form === 'time' ? 'text' : 'date';
	const collation = form === 'time' ? ' collate "C"' : '';
	const bounds = [
		...(from === undefined ? [] : [`${value}${collation} >= ${parameters.add(from, type)}`]),
		...(to === undefined ? [] : [`${value}${collation} <= ${parameters.add(to, type)}`]),
	];
	return [...bounds, ...(form === 'birth date' ? [`${shown} is not null`] : [])].join(' and ');
}

/** A day without a time counts from its beginning to its end. The start of a study is indexed; a series is found by its study. */
function momentCondition(column: string, from: string | undefined, to: string | undefined, parameters: Parameters): string {
	const start = column === 't.started' ? 't.started_start' : `tributary_moment(${column})`;
	return [
		...(from === undefined ? [] : [`${start} >= tributary_moment(${parameters.add(from, 'text')})`]),
		...(to === undefined ? [] : [`${start} < tributary_moment_end(${parameters.add(to, 'text')})`]),
		...(from === undefined && to === undefined ? ['true'] : []),
	].join(' and ');
}
