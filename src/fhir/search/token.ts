import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { Clause, Token } from '#record/search-plan.ts';
import type { SearchParameter } from '../resource.ts';
import { separatorOf, unescaped } from './escape.ts';
import { tokenTerms } from './term.ts';
import { memberClause, numbersClause, partClause } from './token-columns.ts';

type TokenParameter = SearchParameter & { type: 'token' };

/** `code`, `system|code`, `|code` and `system|` (FHIR R4 §3.1.1.4.10). */
export function tokenClause(parameter: TokenParameter, values: readonly string[]): Clause {
	const tokens = elementTokens(values);
	switch (parameter.match) {
		case 'identifier':
			return { kind: 'identifier', tokens };
		case 'coding': {
			const { systemColumn, valueColumn, furtherColumn } = parameter;
			return { kind: 'coding', systemColumn, valueColumn, furtherColumn, tokens };
		}
		case 'id': {
			const ids = tokens.flatMap(({ system, value }) => (system || value === undefined || !isFhirId(value) ? [] : [rowIdOf(value)]));
			return { kind: 'reference', column: 'id', ids };
		}
		case 'code':
			return codeClause(parameter, tokens);
		case 'term':
			return tokenTerms(parameter.scope, tokens);
		case 'numbers':
			return numbersClause(parameter, tokens);
		case 'member':
			return memberClause(parameter, tokens);
		case 'part':
			return partClause(parameter, tokens);
		case 'element': {
			const { system, paths, form } = parameter;
			const possible = system === undefined ? tokens : tokens.filter((token) => token.system === undefined || token.system === system);
			const { of } = parameter;
			return { kind: 'element', paths, test: { kind: 'token', form, tokens: possible }, ...(of === undefined ? {} : { of }) };
		}
	}
}

export function elementTokens(values: readonly string[]): Token[] {
	return values.map((value) => {
		const separator = separatorOf(value);
		if (separator < 0) return { system: undefined, value: unescaped(value) };
		const code = value.slice(separator + 1);
		return { system: unescaped(value.slice(0, separator)), value: code === '' ? undefined : unescaped(code) };
	});
}

/** An element of type code has the one system of its required binding. */
function codeClause({ column, system, meaning }: TokenParameter & { match: 'code' }, tokens: readonly Token[]): Clause {
	const possible = tokens.filter((token) => token.system === undefined || token.system === system);
	if (possible.some((token) => token.value === undefined)) return { kind: 'present', column };
	const codes = possible.flatMap(({ system: named, value }) => {
		if (value === undefined) return [];
		return meaning && named === undefined ? meaning(value) : [value];
	});
	return { kind: 'code', column, values: [...new Set(codes)] };
}
