import { boundedNumber, namedPowers, namedYears, rangeNames, startLengths } from '#record/search-entry.ts';
import type { Clause, DateAlternative, ElementTest, Lead, QuantityAlternative, Token } from '#record/search-plan.ts';
import { termOf, termTexts } from '#record/search-term.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { instantMs } from '../date.ts';
import { plain } from '../fold.ts';
import { referenceTerm } from '../generated-values.ts';
import type { ResourceDefinition, SearchParameter } from '../resource.ts';
import { dividedReference } from './divided-reference.ts';
import { dayNames } from './lead-days.ts';
import { numberNames } from './lead-numbers.ts';
import type { Named } from './named.ts';

/** Terms of the index of elements, of which a row that fulfils a clause has at least one. More rows than these may have one. */

/** Puts the lead of a parameter before its clause, if it has one. */
export function led({ definition, parameter, modifier }: Named, clause: Clause): Clause {
	// Its words have leads of their own.
	const isSound = parameter.type === 'string' && parameter.match === 'sound' && modifier === undefined;
	// The index has of a divided reference only what does not stand in the column, and that part has a lead of its own.
	const lead = isSound || dividedReference(parameter) !== undefined ? undefined : parameter.lead;
	const texts = lead === undefined ? undefined : textsOf(lead, parameter, modifier, clause);
	if (texts === undefined) return clause;
	const { type, table } = definition;
	return { kind: 'led', type, table: table.table, lead: { terms: [...new Set(texts)].map((text) => termOf(text)), through: [] }, clause };
}

/** The rows that refer to others by a parameter with a lead. */
export function ledThrough({ type, table }: ResourceDefinition, through: Lead['through'], clause: Clause): Clause {
	return { kind: 'led', type, table: table.table, lead: { terms: [], through }, clause };
}

/** The rows that refer to one of the values by an element. */
export function ledByReference(
	{ type, table, lead, values }: { type: ResourceType; table: string; lead: string; values: readonly string[] },
	clause: Clause,
): Clause {
	return { kind: 'led', type, table, lead: { terms: values.map((value) => termOf(referenceTerm(lead, value))), through: [] }, clause };
}

/** The rows of which the index has any value of the parameter. */
export function ledByPresence({ type, table }: ResourceDefinition, { lead }: SearchParameter, clause: Clause): Clause {
	if (lead === undefined) return clause;
	return { kind: 'led', type, table: table.table, lead: { terms: [termOf(termTexts.present(lead))], through: [] }, clause };
}

/** The rows of which a word sounds like the word. */
export function ledBySound({ definition, parameter }: Named, word: string, clause: Clause): Clause {
	if (parameter.lead === undefined) return clause;
	const { type, table } = definition;
	const sounds = [{ prefix: termTexts.soundPrefix(parameter.lead), word }];
	return { kind: 'led', type, table: table.table, lead: { terms: [], through: [], sounds }, clause };
}

/** Any of the clauses. If each has a lead, so have all together; an OR of several leads would be tried on every row. */
export function anyOf(clauses: readonly Clause[]): Clause {
	const [first, ...others] = clauses;
	if (first !== undefined && others.length === 0) return first;
	const any: Clause = { kind: 'any', clauses: [...clauses] };
	const leads = clauses.map(ledIn);
	const [lead] = leads;
	if (lead === undefined || leads.some((one) => one?.type !== lead.type)) return any;
	const terms = [...new Set(leads.flatMap((one) => one?.lead.terms ?? []))];
	const through = leads.flatMap((one) => one?.lead.through ?? []);
	const sounds = leads.flatMap((one) => one?.lead.sounds ?? []);
	return {
		kind: 'led',
		type: lead.type,
		table: lead.table,
		lead: { terms, through, ...(sounds.length === 0 ? {} : { sounds }) },
		clause: { kind: 'any', clauses: clauses.map(withoutLeads) },
	};
}

function ledIn(clause: Clause): (Clause & { kind: 'led' }) | undefined {
	if (clause.kind === 'led') return clause;
	if (clause.kind !== 'all') return undefined;
	for (const part of clause.clauses) {
		const found = ledIn(part);
		if (found !== undefined) return found;
	}
	return undefined;
}

/** The clause without leads. */
export function withoutLeads(clause: Clause): Clause {
	if (clause.kind === 'led') return withoutLeads(clause.clause);
	if (clause.kind === 'all' || clause.kind === 'any') return { kind: clause.kind, clauses: clause.clauses.map(withoutLeads) };
	if (clause.kind === 'either') return { kind: 'any', clauses: clause.clauses.map(withoutLeads) };
	return clause;
}

/** Returns undefined where a row without any value may fulfil the clause. */
function textsOf(scope: string, parameter: SearchParameter, modifier: string | undefined, clause: Clause): string[] | undefined {
	if (clause.kind === 'not') return undefined;
	const present = termTexts.present(scope);
	if (modifier === 'missing' || modifier === 'text') return [present];
	if (modifier === 'of-type') return ofTypeTexts(scope, clause);
	switch (clause.kind) {
		case 'element':
			return modifier === 'identifier' ? logicalTexts(scope, clause.test) : elementTexts(scope, clause.test);
		case 'code':
			return clause.values.map((value) => termTexts.code(scope, value));
		case 'text':
			return clause.values.map((value) => termTexts.text(scope, value));
		case 'reference':
			return parameter.type === 'reference'
				? clause.ids.map((id) => `${termTexts.rowPrefix(scope, parameter.targets[0] ?? '')}${id}`)
				: [present];
		case 'date':
			return rangeTexts(scope, clause.alternatives);
		default:
			return [present];
	}
}

/** The value of each alternative comes first among its clauses. */
function ofTypeTexts(scope: string, clause: Clause): string[] {
	if (clause.kind !== 'any') return [termTexts.present(scope)];
	return clause.clauses.flatMap((stated) => {
		const [value] = stated.kind === 'all' ? stated.clauses : [];
		return value?.kind === 'element' ? elementTexts(scope, value.test) : [termTexts.present(scope)];
	});
}

function logicalTexts(scope: string, test: ElementTest): string[] {
	if (test.kind !== 'token') return [termTexts.present(scope)];
	return test.tokens.map(({ value }) => (value === undefined ? termTexts.present(scope) : termTexts.logicalValue(scope, value)));
}

function elementTexts(scope: string, test: ElementTest): string[] {
	switch (test.kind) {
		case 'exists':
		case 'sound':
			return [termTexts.present(scope)];
		case 'token':
			return test.tokens.map((token: Token) => (token.value === undefined ? termTexts.present(scope) : termTexts.code(scope, token.value)));
		case 'reference':
			return test.values.map((value) => referenceTerm(scope, value));
		case 'uri':
			return test.values.map((value) => (test.mode === 'is' ? termTexts.text(scope, value) : termTexts.present(scope)));
		case 'text':
			return test.values.map((value) => startText(scope, test.mode, value));
		case 'date':
			return rangeTexts(scope, test.alternatives);
		case 'quantity':
		case 'number':
			return numberTexts(scope, test.alternatives);
	}
}

function startText(scope: string, mode: 'starts' | 'contains' | 'exact', value: string): string {
	if (mode === 'contains') return termTexts.present(scope);
	const letters = [...plain(value)];
	const [short, long] = startLengths;
	if (mode === 'exact' || letters.length >= long) return termTexts.start(scope, long, letters.slice(0, long).join(''));
	return letters.length >= short ? termTexts.start(scope, short, letters.slice(0, short).join('')) : termTexts.present(scope);
}

function rangeTexts(scope: string, alternatives: readonly DateAlternative[]): string[] {
	return alternatives.flatMap((alternative) => {
		if (alternative.prefix === 'ne') return [termTexts.present(scope)];
		const beyond = [rangeNames.openStart, rangeNames.farStart, rangeNames.openEnd];
		return [...rangeNamesOf(alternative), ...beyond].map((name) => termTexts.range(scope, name));
	});
}

function rangeNamesOf({ prefix, low, high }: DateAlternative): string[] {
	const [from, to] = [instantMs(low), instantMs(high)];
	const starts = (first: number | undefined, last: number | undefined) => dayNames('start', first, last, namedYears);
	const ends = (first: number) => dayNames('end', first, undefined, namedYears);
	switch (prefix) {
		case 'eq':
			return starts(from, to);
		case 'sa':
			return starts(to, undefined);
		case 'lt':
		case 'eb':
			return starts(undefined, from);
		case 'le':
			return starts(undefined, to);
		case 'gt':
			return [...starts(to, undefined), ...ends(to)];
		case 'ge':
			return [...starts(from, undefined), ...ends(from)];
		case 'ne':
			return [];
	}
}

function numberTexts(scope: string, alternatives: readonly QuantityAlternative[]): string[] {
	return alternatives.flatMap((alternative) => {
		const bounds = boundsOf(alternative);
		if (bounds === undefined) return [termTexts.present(scope)];
		return [boundedNumber, ...numberNames(...bounds, namedPowers)].map((name) => termTexts.number(scope, name));
	});
}

/** The numbers between which one that fulfils the alternative lies; undefined if it may be any. */
function boundsOf({ prefix, low, high, value }: QuantityAlternative): readonly [number, number] | undefined {
	switch (prefix) {
		case 'ne':
			return undefined;
		case 'eq':
			return [Number(low), Number(high)];
		case 'gt':
		case 'ge':
		case 'sa':
			return [Number(value), Number.POSITIVE_INFINITY];
		case 'lt':
		case 'le':
		case 'eb':
			return [Number.NEGATIVE_INFINITY, Number(value)];
	}
}
