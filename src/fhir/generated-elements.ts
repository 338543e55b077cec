import type { TokenForm } from '#record/search-plan.ts';
import { pathOf, stringMembers, textPathsOf } from './generated-values.ts';
import type { CompositeItems, SearchParameter } from './resource.ts';
import { generatedTypes } from './resources/generated/index.ts';
import type { GeneratedElement, GeneratedParameter, GeneratedType } from './resources/generated-type.ts';

/** Makes search parameters that look at the resource itself, for types with a table of their own and for the items of composites. */

const everyType: readonly string[] = generatedTypes.map(({ type }) => type);

/** Returns the types to which a reference may lead: all of them, where R4 names none. */
export function targetsOf({ targets }: GeneratedParameter): readonly string[] {
	return targets ?? everyType;
}

function formOf(datatype: string): TokenForm {
	if (datatype === 'CodeableConcept' || datatype === 'Coding') return 'coding';
	return datatype === 'Identifier' || datatype === 'ContactPoint' ? 'identifier' : 'value';
}

function tokenOf(element: GeneratedElement, documentation: string): SearchParameter {
	const form = formOf(element.datatype);
	const path = pathOf(element, element.datatype === 'CodeableConcept' ? 'coding' : undefined);
	return {
		type: 'token',
		match: 'element',
		paths: [path],
		presence: [pathOf(element)],
		form,
		...(element.system === undefined ? {} : { system: element.system }),
		textPaths: textPathsOf(element),
		documentation,
	};
}

/** Returns one parameter for each element. */
function byElement(parameter: GeneratedParameter): SearchParameter[] {
	return parameter.elements.flatMap((element) => ofElement(parameter, element) ?? []);
}

function ofElement(parameter: GeneratedParameter, element: GeneratedElement): SearchParameter | undefined {
	const { type, documentation } = parameter;
	switch (type) {
		case 'token':
			return tokenOf(element, documentation);
		case 'reference': {
			const path = pathOf(element, element.datatype === 'Reference' ? 'reference' : undefined);
			return { type, match: 'element', path, targets: targetsOf(parameter), documentation };
		}
		case 'string':
			return { type, match: 'element', paths: stringPaths(element), documentation };
		case 'date':
			return { type, match: 'element', paths: [pathOf(element)], documentation };
		case 'uri':
			return { type, match: 'element', paths: [pathOf(element)], documentation };
		case 'quantity':
		case 'number':
			return { type, paths: [pathOf(element)], documentation };
		case 'composite':
			return undefined;
	}
}

export function stringPaths(element: GeneratedElement): string[] {
	return (stringMembers(element.datatype) ?? [undefined]).map((member) => pathOf(element, member));
}

/** Returns the parameter of a type with a table of its own; undefined if it cannot be searched in the resource itself. */
export function elementParameter(type: GeneratedType, name: string): SearchParameter | undefined {
	const parameter = type.search[name];
	if (parameter === undefined || parameter.exists === true) return undefined;
	if (parameter.type === 'composite') return compositeParameter(type, parameter);
	const [first, ...others] = byElement(parameter);
	if (first === undefined) return undefined;
	if (others.length === 0) return first;
	return joined(first, others);
}

/** Joins parameters of one form; undefined for those that differ. */
function joined(first: SearchParameter, others: readonly SearchParameter[]): SearchParameter | undefined {
	if (!('paths' in first) || !others.every((other) => 'paths' in other && sameForm(first, other))) return undefined;
	const all = [first, ...others];
	const paths = all.flatMap((one) => ('paths' in one && one.paths !== undefined ? one.paths : []));
	const lists = (member: 'presence' | 'textPaths') =>
		all.flatMap((one) => (member in one ? ((one as Partial<Record<typeof member, readonly string[]>>)[member] ?? []) : []));
	if (first.type !== 'token') return { ...first, paths } as SearchParameter;
	return { ...first, paths, presence: lists('presence'), textPaths: lists('textPaths') } as SearchParameter;
}

function sameForm(one: SearchParameter, other: SearchParameter): boolean {
	if (one.type !== 'token' || other.type !== 'token') return one.type === other.type;
	return one.match === 'element' && other.match === 'element' && one.form === other.form && one.system === other.system;
}

/** A composite whose components must hold for one and the same item (FHIR R4 §3.1.1.4.13). */
export function compositeParameter({ search }: GeneratedType, parameter: GeneratedParameter): SearchParameter | undefined {
	const { components = [], within, documentation } = parameter;
	if (within === undefined) return { type: 'composite', components, documentation };
	const items = within.map((path): CompositeItems => {
		const parameters = components.map((name) => {
			const component = search[name];
			if (component === undefined) throw new Error(`${name} is no parameter`);
			return byElement({ ...component, elements: component.elements.flatMap((element) => inItem(element, path, within)) });
		});
		return { path, parameters };
	});
	return { type: 'composite', components, items, documentation };
}

/** Returns the element as it stands in an item; none if it belongs to the items of a longer path. */
function inItem(element: GeneratedElement, path: string, all: readonly string[]): GeneratedElement[] {
	const isBelow = (other: string) => other === '' || element.path.startsWith(`${other}.`);
	const longest = all.filter(isBelow).reduce((found, other) => (other.length > found.length ? other : found), '');
	if (path === '') return longest === '' ? [element] : [];
	if (longest !== path) return [];
	const below = element.path.slice(path.length + 1);
	const { where, ...rest } = element;
	return [{ ...rest, path: below, ...(where === undefined ? {} : { where: { ...where, at: where.at.slice(path.length + 1) } }) }];
}
