import type { Clause } from '#record/search-plan.ts';
import { folded } from '../fold.ts';
import type { SearchParameter } from '../resource.ts';
import { dateClause } from './date.ts';
import { splitValues, unescaped } from './escape.ts';
import { tokenClause } from './token.ts';

/**
 * One parameter of a search as a clause; undefined when its value asks for nothing.
 * @throws Failure for a value that the parameter cannot have
 */
export function clauseOf(name: string, parameter: SearchParameter, value: string, base: string): Clause | undefined {
	const given = splitValues(value);
	if (given.length === 0) return undefined;
	// No stored text has a NUL, and PostgreSQL takes none.
	const values = given.filter((item) => !item.includes('\0'));
	switch (parameter.type) {
		case 'string':
			return { kind: 'string', column: parameter.column, values: values.map((item) => folded(unescaped(item))) };
		case 'reference':
			return { kind: 'reference', column: parameter.column, ids: referencedIds(parameter.target, values, base) };
		case 'date':
			return dateClause(name, parameter, values);
		case 'token':
			return tokenClause(parameter, values);
	}
}

/** FHIR R4 §3.1.1.4.12: `<id>`, `Patient/<id>`, or the URL of a resource of this service. Others refer to nothing here. */
function referencedIds(target: string, values: readonly string[], base: string): string[] {
	const ids: string[] = [];
	for (const value of values) {
		const relative = value.startsWith(`${base}/`) ? value.slice(base.length + 1) : value;
		const [type, id, ...rest] = relative.includes('/') ? relative.split('/') : [target, relative];
		if (type === target && id !== undefined && rest.length === 0) ids.push(id);
	}
	return ids;
}
