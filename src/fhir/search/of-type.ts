import { Failure } from '#core/failure.ts';
import type { Clause } from '#record/search-plan.ts';
import type { SearchParameter } from '../resource.ts';
import { splitEscaped, unescaped } from './escape.ts';
import { tokenClause } from './token.ts';

type TokenParameter = SearchParameter & { type: 'token' };

/**
 * Matches `:of-type` (FHIR R4 §3.1.1.4.10): `system|code|value`, where system and code are those of the type of the identifier that has the
 * value. The value leads to few rows by the index of the parameter; the identifiers of these tell the type.
 * @throws Failure for a value that lacks one of the three parts
 */
export function ofTypeClause(name: string, parameter: TokenParameter, paths: readonly string[], values: readonly string[]): Clause {
	return {
		kind: 'any',
		clauses: values.map((given): Clause => {
			const [system = '', code = '', value = '', ...rest] = splitEscaped(given, '|');
			if (system === '' || code === '' || value === '' || rest.length > 0)
				throw new Failure('invalid', `${name}:of-type takes system|code|value`, { location: { expression: name } });
			const type = { system: unescaped(system), value: unescaped(code) };
			const clauses: Clause[] = [
				{ kind: 'element', paths: ['$.type.coding'], test: { kind: 'token', form: 'coding', tokens: [type] } },
				{
					kind: 'element',
					paths: ['$.value'],
					test: { kind: 'token', form: 'value', tokens: [{ system: undefined, value: unescaped(value) }] },
				},
			];
			const inText = paths.map((path): Clause => ({ kind: 'items', path, clauses }));
			const stated: Clause = { kind: 'all', clauses: [tokenClause(parameter, [value]), { kind: 'any', clauses: inText }] };
			const rendered = renderedClause(parameter, type, unescaped(value));
			return rendered === undefined ? stated : { kind: 'any', clauses: [stated, rendered] };
		}),
	};
}

/** A rendered row has no text in which the identifier stands. */
function renderedClause(parameter: TokenParameter, type: { system: string; value: string }, value: string): Clause | undefined {
	const typed = parameter.match === 'numbers' ? parameter.typed : undefined;
	if (typed === undefined || typed.system !== type.system || typed.code !== type.value) return undefined;
	return {
		kind: 'all',
		clauses: [
			{ kind: 'code', column: typed.column, values: [value] },
			{ kind: 'not', clause: { kind: 'present', column: 'resource' } },
		],
	};
}
