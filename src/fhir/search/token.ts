import type { Clause, Token } from '#record/search-plan.ts';
import type { SearchParameter } from '../resource.ts';
import { separatorOf, unescaped } from './escape.ts';

/** `code`, `system|code`, `|code` and `system|` (FHIR R4 §3.1.1.4.10). */
export function tokenClause(parameter: SearchParameter & { type: 'token' }, values: readonly string[]): Clause {
	const tokens = values.map((value) => tokenOf(value));
	switch (parameter.match) {
		case 'identifier':
			return { kind: 'identifier', tokens };
		case 'coding': {
			const { systemColumn, valueColumn, furtherColumn } = parameter;
			return { kind: 'coding', systemColumn, valueColumn, furtherColumn, tokens };
		}
		case 'id':
			return {
				kind: 'reference',
				column: 'id',
				ids: tokens.flatMap(({ system, value }) => (system || value === undefined ? [] : [value])),
			};
		case 'code':
			return codeClause(parameter.column, parameter.system, tokens);
	}
}

function tokenOf(value: string): Token {
	const separator = separatorOf(value);
	if (separator < 0) return { system: undefined, value: unescaped(value) };
	const code = value.slice(separator + 1);
	return { system: unescaped(value.slice(0, separator)), value: code === '' ? undefined : unescaped(code) };
}

/** An element of type code has the one system of its required binding. */
function codeClause(column: string, system: string, tokens: readonly Token[]): Clause {
	const possible = tokens.filter((token) => token.system === undefined || token.system === system);
	if (possible.some((token) => token.value === undefined)) return { kind: 'present', column };
	return { kind: 'code', column, values: possible.map((token) => token.value).filter((value) => value !== undefined) };
}
