import { Failure } from '#core/failure.ts';
import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { Clause, ElementTest } from '#record/search-plan.ts';
import { folded, plain } from '../fold.ts';
import { withoutPart } from '../indexed-parameters.ts';
import type { SearchParameter } from '../resource.ts';
import { definitionOf } from '../resources/index.ts';
import { dateClause } from './date.ts';
import { alternativesOf, splitEscaped, unescaped } from './escape.ts';
import { anyOf, led, ledBySound } from './lead.ts';
import { type Named, unsupportedModifier } from './named.ts';
import { ofTypeClause } from './of-type.ts';
import { quantityAlternative } from './quantity.ts';
import { identifierOfReference, referenceClause } from './reference.ts';
import { hasCodes, isCodeModifier, tokensMeant } from './subsumption.ts';
import { presentTerm, uriTerms } from './term.ts';
import { tokenClause } from './token.ts';

/**
 * Converts one parameter of a search to a clause; undefined when its value is empty.
 * @throws Failure for a value that the parameter cannot have, such as commas alone, and for a modifier that it does not support
 */
export function clauseOf(named: Named): Clause | undefined {
	const clause = unledClause(named);
	return clause && led(named, clause);
}

function unledClause(named: Named): Clause | undefined {
	const { parameter, modifier } = named;
	const given = alternativesOf(named.name, named.value);
	if (given.length === 0) return undefined;
	if (modifier === 'missing') return missingClause(named);
	// No stored text has a NUL, and PostgreSQL does not accept one.
	const values = given.filter((item) => !item.includes('\0'));
	switch (parameter.type) {
		case 'string':
			return parameter.match === 'sound' ? soundClause(named, parameter.paths, values) : stringClause(named, parameter, values);
		case 'reference':
			return modifier === 'identifier' ? identifierOfReference(named, parameter, values) : referenceClause(named, parameter, values);
		case 'date':
			refuseModifier(named);
			return dateClause(named.name, parameter, values);
		case 'token':
			return tokenParameterClause(named, parameter, values);
		case 'quantity':
			refuseModifier(named);
			return element(parameter.paths, { kind: 'quantity', alternatives: values.map((value) => quantityAlternative(named.name, value)) });
		case 'number':
			refuseModifier(named);
			return element(parameter.paths, { kind: 'number', alternatives: values.map((value) => quantityAlternative(named.name, value)) });
		case 'uri':
			return uriClause(named, parameter, values);
		case 'composite':
			refuseModifier(named);
			return anyOf(values.map((value) => compositeClause(named, parameter, value)));
		case 'special':
			refuseModifier(named);
			return listClause(named, values);
	}
}

export function refuseModifier({ modifier, name }: Named): void {
	if (modifier !== undefined) throw unsupportedModifier(name);
}

function element(paths: readonly string[], test: ElementTest, of?: 'meta'): Clause {
	return { kind: 'element', paths, test, ...(of === undefined ? {} : { of }) };
}

/** FHIR R4 §3.1.1.4.4 `:missing` */
function missingClause({ name, value, parameter }: Named): Clause {
	if (value !== 'true' && value !== 'false')
		throw new Failure('invalid', `${name} must be true or false`, { location: { expression: name } });
	const present = presence(name, parameter);
	return value === 'false' ? present : { kind: 'not', clause: present };
}

/** Tells whether the element of the parameter has a value, of whatever form: text alone is a concept, and a display alone a reference. */
function presence(name: string, parameter: SearchParameter): Clause {
	if (parameter.scope !== undefined) return presentTerm(parameter.scope);
	switch (parameter.type) {
		case 'string':
			return element(parameter.presence ?? parameter.paths, { kind: 'exists' });
		case 'quantity':
		case 'number':
			return element(parameter.paths, { kind: 'exists' });
		case 'uri':
			if (parameter.match === 'column') return { kind: 'present', column: parameter.column };
			return element(parameter.paths, { kind: 'exists' }, parameter.match === 'element' ? parameter.of : undefined);
		case 'reference':
			if (parameter.match === 'term') return presentTerm(parameter.scope);
			return parameter.match === 'element' ? anyPresent(undefined, [parameter.path]) : anyPresent(parameter.column, listed(parameter.path));
		case 'date':
			if (parameter.match === 'moment') return { kind: 'present', column: parameter.column };
			if (parameter.match === 'element') return element(parameter.paths, { kind: 'exists' });
			return anyPresent(parameter.startColumn, parameter.presence ?? []);
		case 'token':
			return tokenPresence(parameter);
		case 'composite':
		case 'special':
			throw unsupportedModifier(name);
	}
}

function tokenPresence(parameter: SearchParameter & { type: 'token' }): Clause {
	switch (parameter.match) {
		case 'id':
			return { kind: 'present', column: 'id' };
		case 'code':
			return anyPresent(parameter.column, listed(parameter.path));
		case 'term':
			return presentTerm(parameter.scope);
		case 'coding':
			return anyPresent(parameter.valueColumn, [parameter.path]);
		case 'identifier':
			return anyPresent(undefined, [parameter.path]);
		case 'element':
			if (parameter.of === 'meta') return element(parameter.paths, { kind: 'exists' }, 'meta');
			return anyPresent(undefined, parameter.presence ?? parameter.paths);
		case 'numbers':
			return {
				kind: 'any',
				clauses: [
					...parameter.numbers.map(({ column }): Clause => ({ kind: 'present', column })),
					...listed(parameter.listColumn).map((column): Clause => ({ kind: 'listed', column })),
				],
			};
		case 'member':
			return { kind: 'listed', column: parameter.column };
		case 'part':
			return {
				kind: 'any',
				clauses: [
					{ kind: 'present', column: parameter.column },
					{ kind: 'listed', column: parameter.listColumn },
				],
			};
	}
}

function listed(path: string | undefined): readonly string[] {
	return path === undefined ? [] : [path];
}

/** A filled column answers without reading the resource. What it leaves open, the elements tell. */
function anyPresent(column: string | undefined, paths: readonly string[]): Clause {
	const elements = element(
		paths.map((path) => withoutPart(path)),
		{ kind: 'exists' },
	);
	if (column === undefined) return elements;
	const filled: Clause = { kind: 'present', column };
	return paths.length === 0 ? filled : { kind: 'any', clauses: [filled, elements] };
}

/** So many words of a value lead to rows, and the others are looked for in those. Each lead is a join, and planning takes their square. */
const soundLeadsMax = 4;
/** No name has more words, and each is a condition of its own. */
const soundWordsMax = 50;

/** Matches names of which a word sounds like each word of the value. A value without words sounds like nothing. */
function soundClause(named: Named, paths: readonly string[], values: readonly string[]): Clause {
	refuseModifier(named);
	const alternatives = values.map((value): Clause => {
		const words = unescaped(value).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [''];
		// The value itself was counted with the others.
		named.values.add(words.length - 1);
		const distinct = new Set(words);
		if (distinct.size > soundWordsMax)
			throw new Failure('invalid', `a value of ${named.name} has at most ${soundWordsMax} words`, { location: { expression: named.name } });
		const clauses = [...distinct].map((word, index) => {
			const sound = element(paths, { kind: 'sound', word });
			return index < soundLeadsMax ? ledBySound(named, word, sound) : sound;
		});
		return { kind: 'all', clauses };
	});
	return anyOf(alternatives);
}

/** Matches a string (§3.1.1.4.8). A name matches any part, as its definition says; other texts match their start, as in R4. */
function stringClause(
	named: Named,
	parameter: Exclude<SearchParameter & { type: 'string' }, { match: 'sound' }>,
	values: readonly string[],
): Clause {
	const { modifier } = named;
	const texts = values.map((item) => unescaped(item));
	const plainTexts = texts.map((text) => plain(text));
	// A column that a node of release 0.1.0 wrote lacks the names without accents.
	const inColumn = [...new Set([...plainTexts, ...texts.map((text) => folded(text))])];
	if (modifier !== undefined && modifier !== 'exact' && modifier !== 'contains') throw unsupportedModifier(named.name);
	const narrowed = (clause: Clause): Clause =>
		parameter.column === undefined
			? clause
			: { kind: 'all', clauses: [{ kind: 'string', column: parameter.column, values: inColumn }, clause] };
	if (modifier === 'exact') return narrowed(element(parameter.paths, { kind: 'text', mode: 'exact', values: texts }));
	if (parameter.match === 'substring') return { kind: 'string', column: parameter.column, values: inColumn };
	return narrowed(element(parameter.paths, { kind: 'text', mode: modifier === 'contains' ? 'contains' : 'starts', values: plainTexts }));
}

function tokenParameterClause(named: Named, parameter: SearchParameter & { type: 'token' }, values: readonly string[]): Clause {
	const { name, modifier, terms } = named;
	if (isCodeModifier(modifier) && terms !== undefined && hasCodes(parameter)) {
		const clause = tokenClause(parameter, tokensMeant(name, modifier, values, terms, named.values.max));
		return modifier === 'not-in' ? { kind: 'not', clause } : clause;
	}
	switch (named.modifier) {
		case undefined:
			return tokenClause(parameter, values);
		case 'not':
			return { kind: 'not', clause: tokenClause(parameter, values) };
		case 'of-type':
			if (parameter.ofType === undefined) throw unsupportedModifier(named.name);
			return ofTypeClause(named.name, parameter, parameter.ofType, values);
		case 'text': {
			const paths = textPaths(parameter);
			if (paths === undefined) throw unsupportedModifier(named.name);
			const of = parameter.match === 'element' ? parameter.of : undefined;
			const texts = element(paths, { kind: 'text', mode: 'contains', values: values.map((item) => plain(unescaped(item))) }, of);
			return ofPresent(parameter, texts);
		}
		default:
			throw unsupportedModifier(named.name);
	}
}

/** Returns the paths to the texts of a token (§3.1.1.4.10 `:text`). */
function textPaths(parameter: SearchParameter & { type: 'token' }): readonly string[] | undefined {
	if (parameter.match === 'coding') return [`${parameter.path}.text`, `${parameter.path}.coding.display`];
	if (parameter.match === 'identifier') return [`${parameter.path}.type.text`];
	const texts = parameter.match === 'element' || parameter.match === 'term' ? parameter.textPaths : undefined;
	// A code by itself has no text.
	return texts?.length === 0 ? undefined : texts;
}

/** Matches a URI, or with `:below` what begins with it (§3.1.1.4.14). */
function uriClause(named: Named, parameter: SearchParameter & { type: 'uri' }, values: readonly string[]): Clause {
	const uris = values.map((value) => unescaped(value));
	if (named.modifier !== undefined && (named.modifier !== 'below' || parameter.match === 'column')) throw unsupportedModifier(named.name);
	if (parameter.match === 'column') return { kind: 'text', column: parameter.column, values: uris };
	if (named.modifier === undefined && parameter.match === 'term') return uriTerms(parameter.scope, uris);
	const mode = named.modifier === 'below' ? 'below' : 'is';
	const found = element(parameter.paths, { kind: 'uri', mode, values: uris }, parameter.match === 'element' ? parameter.of : undefined);
	return ofPresent(parameter, found);
}

/** A term leads to the rows in which the parameter has any value. */
function ofPresent(parameter: SearchParameter, clause: Clause): Clause {
	return parameter.scope === undefined ? clause : { kind: 'all', clauses: [presentTerm(parameter.scope), clause] };
}

/** Matches the entries of Lists (§3.1.1.5.7); the value is the id of a List. */
function listClause({ definition }: Named, values: readonly string[]): Clause {
	const ids = values.filter((value) => isFhirId(value)).map((value) => rowIdOf(value));
	const table = definitionOf('List')?.table.table;
	if (table === undefined) throw new Error('List is not defined');
	const clauses: Clause[] = [{ kind: 'reference', column: 'id', ids }];
	return { kind: 'referring-element', table, paths: ['$.entry.item.reference'], type: definition.type, clauses };
}

/** Matches `code$value` (§3.1.1.4.13); all components must match, in one and the same item if the parameter has items. */
function compositeClause(named: Named, { components, items }: SearchParameter & { type: 'composite' }, value: string): Clause {
	const parts = splitEscaped(value, '$');
	if (parts.length !== components.length) {
		throw new Failure('invalid', `${named.name} takes ${components.join('$')}`, { location: { expression: named.name } });
	}
	const clauses = components.map((component, index) => {
		const parameter = named.definition.search[component];
		const part = parts[index] ?? '';
		if (parameter === undefined) throw new Error(`${component} is no parameter`);
		if (part === '') throw new Failure('invalid', `${named.name} takes ${components.join('$')}`, { location: { expression: named.name } });
		return clauseOf({ ...named, parameter, modifier: undefined, value: part });
	});
	const each = clauses.filter((clause) => clause !== undefined);
	if (items === undefined) return { kind: 'all', clauses: each };
	const inItem = items.map(({ path, parameters }): Clause => {
		const held = parameters.map((alternatives, index): Clause => {
			const found = alternatives.map((parameter) => clauseOf({ ...named, parameter, modifier: undefined, value: parts[index] ?? '' }));
			return { kind: 'any', clauses: found.filter((clause) => clause !== undefined) };
		});
		return path === '' ? { kind: 'all', clauses: held } : { kind: 'items', path: `$.${path}`, clauses: held };
	});
	// The components by themselves may use an index.
	return { kind: 'all', clauses: [...each, { kind: 'any', clauses: inItem }] };
}
