import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { Clause } from '#record/search-plan.ts';
import type { SearchParameter } from '../resource.ts';
import { unescaped } from './escape.ts';
import { type Named, unsupportedModifier } from './named.ts';
import { logicalTerms, referenceTerms } from './term.ts';
import { elementTokens } from './token.ts';

type ReferenceParameter = SearchParameter & { type: 'reference' };

/** Matches a reference (FHIR R4 §3.1.1.4.12): `<id>`, `Patient/<id>`, or a URL. `:Patient` states the type of a bare id. */
export function referenceClause({ name, modifier, base }: Named, parameter: ReferenceParameter, values: readonly string[]): Clause {
	if (modifier !== undefined && !(parameter.targets as readonly string[]).includes(modifier)) throw unsupportedModifier(name);
	const types = modifier === undefined ? parameter.targets : [modifier];
	const texts = values.flatMap((value) => referenceTexts(unescaped(value), types, base));
	if (parameter.match === 'term') return referenceTerms(parameter.scope, texts);
	if (parameter.match === 'element') return { kind: 'element', paths: [parameter.path], test: { kind: 'reference', values: texts } };
	const [target] = parameter.targets;
	const ids = texts.filter((text) => text.startsWith(`${target}/`)).map((text) => text.slice(target.length + 1));
	return { kind: 'reference', column: parameter.column, ids: ids.filter((id) => isFhirId(id)).map((id) => rowIdOf(id)) };
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
export function identifierOfReference({ name }: Named, parameter: ReferenceParameter, values: readonly string[]): Clause {
	if (parameter.match === 'term') return logicalTerms(parameter.scope, elementTokens(values));
	const path = parameter.match === 'element' ? parameter.path.replace(/\.reference$/, '') : parameter.path;
	if (path === undefined) throw unsupportedModifier(name);
	return { kind: 'element', paths: [`${path}.identifier`], test: { kind: 'token', form: 'identifier', tokens: elementTokens(values) } };
}
