import type { Clause, Token } from '#record/search-plan.ts';
import { termOf, termTexts } from '#record/search-term.ts';
import { namedRow } from '../generated-values.ts';

/** Clauses on the terms of a row, for the types that share a table. `scope` names the resource type and the parameter. */

export function presentTerm(scope: string): Clause {
	return { kind: 'terms', terms: [termOf(termTexts.present(scope))] };
}

/** `code`, `system|code`, `|code` and `system|` (FHIR R4 §3.1.1.4.10). */
export function tokenTerms(scope: string, tokens: readonly Token[]): Clause {
	const terms = tokens.flatMap(({ system, value }) => {
		if (value === undefined) return system === undefined || system === '' ? [] : [termOf(termTexts.system(scope, system))];
		return [termOf(system === undefined ? termTexts.code(scope, value) : termTexts.coded(scope, system, value))];
	});
	return { kind: 'terms', terms };
}

/** References as they may be stored: `Type/id`, or any other text. */
export function referenceTerms(scope: string, texts: readonly string[]): Clause {
	const terms: string[] = [];
	const patients: string[] = [];
	for (const text of texts) {
		const named = namedRow(text);
		if (named?.type === 'Patient') patients.push(named.rowId);
		else if (named === undefined) terms.push(termOf(termTexts.text(scope, text)));
		else terms.push(termOf(`${termTexts.rowPrefix(scope, named.type)}${named.rowId}`));
	}
	const others: Clause = { kind: 'terms', terms };
	if (patients.length === 0) return others;
	const persons: Clause = { kind: 'patient-terms', prefix: termTexts.rowPrefix(scope, 'Patient'), ids: patients };
	return terms.length === 0 ? persons : { kind: 'any', clauses: [others, persons] };
}

/** The identifier of a logical reference (`:identifier`). */
export function logicalTerms(scope: string, tokens: readonly Token[]): Clause {
	const terms = tokens.flatMap(({ system, value }) => {
		if (value === undefined) return [];
		return [termOf(system === undefined ? termTexts.logicalValue(scope, value) : termTexts.logical(scope, system, value))];
	});
	return { kind: 'terms', terms };
}

/** URIs are compared as they are (§3.1.1.4.14). */
export function uriTerms(scope: string, values: readonly string[]): Clause {
	return { kind: 'terms', terms: values.map((value) => termOf(termTexts.text(scope, value))) };
}
