import { Failure } from '#core/failure.ts';
import { permits, requireScope, type Scopes } from '#record/scopes.ts';
import type { Clause } from '#record/search-plan.ts';
import { termTexts } from '#record/search-term.ts';
import { indexedValueOf } from '../indexed-parameters.ts';
import type { ResourceDefinition, SearchParameter } from '../resource.ts';
import { definitionOf } from '../resources/index.ts';
import { clauseOf } from './clause.ts';
import { dividedReference, placesOf, type ReferenceParameter } from './divided-reference.ts';
import { anyOf, ledByPresence, ledThrough } from './lead.ts';
import { namesResources } from './named.ts';
import type { SearchLimits } from './parsed-search.ts';
import { besideColumn } from './reference.ts';
import type { SearchTerms } from './subsumption.ts';
import { SearchValues } from './values.ts';

function metaToken(member: string, documentation: string): SearchParameter {
	const [path, textPaths] = [`$.${member}`, [`$.${member}.display`]];
	return { type: 'token', match: 'element', of: 'meta', paths: [path], form: 'coding', textPaths, documentation };
}

/** Parameters of every resource type. */
export const commonParameters: Readonly<Record<string, SearchParameter>> = {
	_id: { type: 'token', match: 'id', documentation: 'The id of the resource' },
	_tag: metaToken('tag', 'A tag of the resource'),
	_security: metaToken('security', 'A security label of the resource'),
	_profile: { type: 'uri', match: 'element', of: 'meta', paths: ['$.profile'], documentation: 'A profile that the resource claims' },
	_source: { type: 'uri', match: 'column', column: 'source', documentation: 'Where the version comes from' },
	_list: { type: 'special', match: 'list', documentation: 'The resources that a List names, by its id' },
	_lastUpdated: { type: 'date', match: 'moment', column: 'last_updated', documentation: 'When the version was made' },
};

/** The largest number of steps in a chain, and of nested `_has`. */
const chainMax = 3;

export function parameterOf(definition: ResourceDefinition, name: string): SearchParameter | undefined {
	if (Object.hasOwn(definition.search, name)) return definition.search[name];
	const common = Object.hasOwn(commonParameters, name) ? commonParameters[name] : undefined;
	if (common === undefined || indexedValueOf(definition, common) === undefined) return common;
	return { ...common, lead: `${definition.type}.${name}` };
}

export interface ParameterOptions {
	/** The FHIR base URL without a trailing slash. */
	base: string;
	/** The caller may search these. A chain and `_has` search other types too. */
	scopes: Scopes | undefined;
	/** The largest number of values of a search. */
	limits: Pick<SearchLimits, 'searchValuesMax'>;
	terms?: SearchTerms | undefined;
	/** The values of the search so far; undefined for a parameter that is no part of a search. */
	values?: SearchValues;
}

/** A clause; undefined when the value is empty; `unknown` when there is no such parameter. */
export type ParameterResult = Clause | undefined | 'unknown';

/**
 * Converts one parameter of a search to a clause: `name`, `name:modifier`, a chain `patient.name`, `subject:Patient.name`, or
 * `_has:Observation:patient:code` (FHIR R4 §3.1.1.4).
 * @throws Failure for an impossible value, an unsupported modifier, and a chain that is too long
 */
export function parameterClause(
	definition: ResourceDefinition,
	name: string,
	value: string,
	options: ParameterOptions,
	depth = 0,
): ParameterResult {
	if (name.startsWith('_has:')) return hasClause(definition, name, value, options, depth);
	const dot = name.indexOf('.');
	if (dot > 0) return chainClause(definition, [name.slice(0, dot), name.slice(dot + 1)], value, options, depth);
	const [plain = '', modifier, ...rest] = name.split(':');
	const parameter = parameterOf(definition, plain);
	if (parameter === undefined || rest.length > 0) return 'unknown';
	// The entries of a List are part of that List.
	if (parameter.type === 'special') requireScope(options.scopes, 'List', 's');
	const { base, terms, values = new SearchValues(options.limits.searchValuesMax) } = options;
	return clauseOf({ name: plain, modifier, value, parameter, definition, base, terms, values });
}

function refuseDepth(depth: number, name: string): void {
	if (depth >= chainMax)
		throw new Failure('not-supported', `a chain has at most ${chainMax} steps`, { location: { expression: name.slice(0, 64) } });
}

function chainClause(
	definition: ResourceDefinition,
	[step, rest]: [string, string],
	value: string,
	options: ParameterOptions,
	depth: number,
): ParameterResult {
	refuseDepth(depth, step);
	const [name = '', type] = step.split(':');
	const parameter = parameterOf(definition, name);
	if (parameter?.type !== 'reference') return 'unknown';
	refuseCanonical(name, parameter);
	const isDivided = dividedReference(parameter) !== undefined;
	// A chain without a type leads through every type that has the next parameter.
	const through: Clause[] = [];
	let isEmpty = false;
	let isFirst = true;
	for (const target of parameter.targets) {
		const next = definitionOf(target);
		if (next === undefined || (type !== undefined && type !== target)) continue;
		const clause = parameterClause(next, rest, value, options, depth + 1);
		if (clause === 'unknown') continue;
		// Whoever may search patients but no groups asks for the patients, and finds what is about them.
		if (!isFirst && type === undefined && isDivided && !permits(options.scopes, next.type, 's')) continue;
		requireScope(options.scopes, next.type, 's');
		isFirst = false;
		if (clause === undefined) isEmpty = true;
		else through.push(throughReference(definition, placeOf(parameter, target), next, clause));
	}
	if (through.length === 0) return isEmpty ? undefined : 'unknown';
	return isDivided ? eitherOf(definition, parameter, through) : anyOf(through);
}

/** The place where references to a type stand. */
function placeOf(parameter: ReferenceParameter, target: string): ReferenceParameter {
	return placesOf(parameter).find(({ targets }) => (targets as readonly string[]).includes(target)) ?? parameter;
}

/** The rows that refer to others by a column, or by the element beside it. */
function eitherOf({ table: { table } }: ResourceDefinition, parameter: ReferenceParameter, through: readonly Clause[]): Clause {
	const { column = '' } = parameter.match === 'column' ? parameter : {};
	const byColumn = through.filter(({ kind }) => kind === 'through');
	const others = through.filter(({ kind }) => kind !== 'through');
	const clauses = [...byColumn, ...(others.length === 0 ? [] : [besideColumn(column, anyOf(others))])];
	const [only] = clauses;
	return only !== undefined && clauses.length === 1 ? only : { kind: 'either', table, clauses };
}

/** A chain or `_has` that found nothing would look as if there were nothing. */
function refuseCanonical(name: string, parameter: SearchParameter & { type: 'reference' }): void {
	if (namesResources(parameter)) return;
	const text = `${name} is a canonical URL; a chain or _has does not lead through it`;
	throw new Failure('not-supported', text, { location: { expression: name } });
}

/** The clause by which the rows that a reference names fulfil another clause. */
function throughReference(
	definition: ResourceDefinition,
	parameter: SearchParameter & { type: 'reference' },
	{ type, table: { table } }: ResourceDefinition,
	clause: Clause,
): Clause {
	const clauses = [clause];
	if (parameter.match === 'term') return { kind: 'through-terms', prefix: termTexts.rowPrefix(parameter.scope, type), table, clauses };
	const through: Clause =
		parameter.match === 'column'
			? { kind: 'through', column: parameter.column, table, clauses }
			: { kind: 'through-element', path: parameter.path, type, table, clauses };
	if (parameter.lead === undefined) return through;
	return ledThrough(definition, [{ prefix: termTexts.rowPrefix(parameter.lead, type), table, clauses }], through);
}

function hasClause(definition: ResourceDefinition, name: string, value: string, options: ParameterOptions, depth: number): ParameterResult {
	refuseDepth(depth, '_has');
	const [, type = '', reference = '', ...rest] = name.split(':');
	const source = definitionOf(type);
	const parameter = source && parameterOf(source, reference);
	if (source === undefined || parameter?.type !== 'reference' || rest.length === 0) return 'unknown';
	if (!(parameter.targets as readonly string[]).includes(definition.type)) return 'unknown';
	refuseCanonical(reference, parameter);
	requireScope(options.scopes, source.type, 's');
	const clause = parameterClause(source, rest.join(':'), value, options, depth + 1);
	if (clause === undefined || clause === 'unknown') return clause;
	const place = placeOf(parameter, definition.type);
	const { table } = source.table;
	if (place.match === 'column') return { kind: 'referring', table, column: place.column, clauses: [clause] };
	const paths = place.match === 'term' ? place.paths : [place.path];
	const clauses = [...othersOf(source, parameter), clause];
	return { kind: 'referring-element', table, paths, type: definition.type, clauses };
}

/** The resources whose reference does not stand in the column: few of those that a code leads to. */
function othersOf(source: ResourceDefinition, parameter: ReferenceParameter): Clause[] {
	const others = dividedReference(parameter)?.others;
	if (others === undefined || parameter.match !== 'column') return [];
	const exists: Clause = { kind: 'element', paths: [others.path], test: { kind: 'exists' } };
	return [besideColumn(parameter.column, ledByPresence(source, others, exists))];
}
