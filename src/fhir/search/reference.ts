import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { Clause } from '#record/search-plan.ts';
import { type DividedReference, dividedReference, type ReferenceParameter } from './divided-reference.ts';
import { unescaped } from './escape.ts';
import { led } from './lead.ts';
import { type Named, unsupportedModifier } from './named.ts';
import { logicalTerms, referenceTerms } from './term.ts';
import { elementTokens } from './token.ts';

/** Matches a reference (FHIR R4 §3.1.1.4.12): `<id>`, `Patient/<id>`, or a URL. `:Patient` states the type of a bare id. */
export function referenceClause(named: Named, parameter: ReferenceParameter, values: readonly string[]): Clause {
	const { name, modifier, base } = named;
	if (modifier !== undefined && !(parameter.targets as readonly string[]).includes(modifier)) throw unsupportedModifier(name);
	const types = modifier === undefined ? parameter.targets : [modifier];
	const texts = values.flatMap((value) => referenceTexts(unescaped(value), types, base));
	const divided = dividedReference(parameter);
	return divided === undefined ? clauseOfTexts(parameter, texts) : dividedClause(named, divided, texts);
}

function clauseOfTexts(parameter: ReferenceParameter, texts: readonly string[]): Clause {
	if (parameter.match === 'term') return referenceTerms(parameter.scope, texts);
	if (parameter.match === 'element') return { kind: 'element', paths: [parameter.path], test: { kind: 'reference', values: [...texts] } };
	const [target] = parameter.targets;
	const ids = texts.filter((text) => text.startsWith(`${target}/`)).map((text) => text.slice(target.length + 1));
	return { kind: 'reference', column: parameter.column, ids: ids.filter((id) => isFhirId(id)).map((id) => rowIdOf(id)) };
}

/** A search for what stands in the column alone is that of the column, and no slower for what else there may be. */
function dividedClause(named: Named, { inColumn, others }: DividedReference, texts: readonly string[]): Clause {
	const [target] = inColumn.targets;
	const further = texts.filter((text) => !text.startsWith(`${target}/`));
	const ofColumn = clauseOfTexts(
		inColumn,
		texts.filter((text) => text.startsWith(`${target}/`)),
	);
	if (further.length === 0) return ofColumn;
	const ofOthers = besideColumn(inColumn.column, led({ ...named, parameter: others }, clauseOfTexts(others, further)));
	if (further.length === texts.length) return ofOthers;
	return { kind: 'either', table: named.definition.table.table, clauses: [ofColumn, ofOthers] };
}

/** A resource whose reference stands in the column has no other one. So its text need not be read, as that of a later row would be. */
export function besideColumn(column: string, clause: Clause): Clause {
	return { kind: 'all', clauses: [{ kind: 'absent', column }, clause] };
}

/** Returns the forms in which a stored reference may name the value; none when it has another type or service. */
function referenceTexts(value: string, types: readonly string[], base: string): string[] {
	const relative = base !== '' && value.startsWith(`${base}/`) ? value.slice(base.length + 1) : value;
	if (!relative.includes('/') && !relative.includes(':')) return types.map((type) => `${type}/${relative}`);
	const [type = '', id, ...rest] = relative.split('/');
	if (id !== undefined && rest.length === 0) return types.includes(type) ? [relative] : [];
	return [relative];
}

/** Matches `:identifier`: the logical identifier of a reference, not its target. */
export function identifierOfReference(named: Named, parameter: ReferenceParameter, values: readonly string[]): Clause {
	const { name } = named;
	const others = dividedReference(parameter)?.others;
	if (others !== undefined) return led({ ...named, parameter: others }, identifierOfReference(named, others, values));
	if (parameter.match === 'term') return logicalTerms(parameter.scope, elementTokens(values));
	const path = parameter.match === 'element' ? parameter.path.replace(/\.reference$/, '') : parameter.path;
	if (path === undefined) throw unsupportedModifier(name);
	return { kind: 'element', paths: [`${path}.identifier`], test: { kind: 'token', form: 'identifier', tokens: elementTokens(values) } };
}
