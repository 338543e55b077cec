import { indexText } from '#record/index-text.ts';
import type { Clause, Token } from '#record/search-plan.ts';
import type { NumberColumn, SearchParameter } from '../resource.ts';

type TokenParameter = SearchParameter & { type: 'token' };

/** Matches tokens by columns, for resources that are rendered from columns and have no stored text. */

function withoutPrefix(value: string, prefix: string | undefined): string {
	return prefix !== undefined && value.startsWith(prefix) ? value.slice(prefix.length) : value;
}

/** Builds one clause for each column and, if they can share it, for all tokens. A token that matches no column is left out. */
export function numbersClause({ numbers, listColumn }: TokenParameter & { match: 'numbers' }, tokens: readonly Token[]): Clause {
	const clauses = numbers.flatMap((number) => {
		const { column, prefix } = number;
		const shared = tokens.flatMap(({ system, value }) =>
			value !== undefined && isOf(number, system) ? [withoutPrefix(value, prefix)] : [],
		);
		const further = tokens.flatMap((token) => furtherClause(number, token));
		return [...(shared.length === 0 ? [] : [{ kind: 'code' as const, column, values: shared }]), ...further];
	});
	if (listColumn !== undefined) {
		// Rows without a list are ruled out first, so that the planner may use the indexes of the other columns for them.
		const listed: Clause = { kind: 'member', column: listColumn, values: tokens.map(identifierToken) };
		clauses.push({ kind: 'all', clauses: [{ kind: 'present', column: listColumn }, listed] });
	}
	return clauses.length === 1 && clauses[0] ? clauses[0] : { kind: 'any', clauses };
}

/** Returns a token in the form in which a list of identifiers holds it; see `writtenStudyColumns`. */
function identifierToken({ system, value = '' }: Token): string {
	return indexText(system === undefined ? value : `${system}|${value}`);
}

/** Tells whether the value alone decides. */
function isOf({ system: own }: NumberColumn, system: string | undefined): boolean {
	return system === undefined || ('uri' in own && system === own.uri);
}

function furtherClause({ column, system: own }: NumberColumn, { system, value }: Token): Clause[] {
	if (system === undefined) return [];
	if ('uri' in own) return value === undefined && system === own.uri ? [{ kind: 'present', column }] : [];
	const ofSystem: Clause =
		system === ''
			? { kind: 'not', clause: { kind: 'present', column: own.column } }
			: { kind: 'code', column: own.column, values: [system] };
	const ofValue: Clause = value === undefined ? { kind: 'present', column } : { kind: 'code', column, values: [value] };
	return [{ kind: 'all', clauses: [ofValue, ofSystem] }];
}

export function memberClause({ column, system, prefix }: TokenParameter & { match: 'member' }, tokens: readonly Token[]): Clause {
	const possible = tokens.filter((token) => token.system === undefined || token.system === system);
	if (possible.some(({ value }) => value === undefined)) return { kind: 'listed', column };
	return { kind: 'member', column, values: possible.map(({ value = '' }) => withoutPrefix(value, prefix)) };
}

/** A UID is an id, which has no system. */
export function partClause(
	{ table, uidColumn, key, column, listColumn }: TokenParameter & { match: 'part' },
	tokens: readonly Token[],
): Clause {
	const values = tokens.flatMap(({ system, value }) => (system || value === undefined ? [] : [withoutPrefix(value, 'urn:oid:')]));
	const rendered: Clause = { kind: 'through', column, table, key, clauses: [{ kind: 'code', column: uidColumn, values }] };
	// A rendered row has no list, and an OR with an unknown would not use the index of the parts.
	const written: Clause = {
		kind: 'all',
		clauses: [
			{ kind: 'present', column: listColumn },
			{ kind: 'member', column: listColumn, values },
		],
	};
	return { kind: 'any', clauses: [rendered, written] };
}
