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

/** Returns a parameter that looks at the elements; undefined if no single one can look at all of them. */
function ofElements(parameter: GeneratedParameter, elements: readonly GeneratedElement[]): SearchParameter | undefined {
	const { type, documentation } = parameter;
	const [first, ...others] = elements;
	if (first === undefined) return undefined;
	const paths = elements.map((element) => pathOf(element));
	switch (type) {
		case 'token': {
			const form = formOf(first.datatype);
			if (others.some(({ datatype, system }) => formOf(datatype) !== form || system !== first.system)) return undefined;
			return {
				type,
				match: 'element',
				paths: elements.map((element) => pathOf(element, element.datatype === 'CodeableConcept' ? 'coding' : undefined)),
				presence: paths,
				form,
				...(first.system === undefined ? {} : { system: first.system }),
				textPaths: elements.flatMap(textPathsOf),
				...ofTypePaths(elements),
				documentation,
			};
		}
		case 'reference': {
			if (others.length > 0) return undefined;
			const path = pathOf(first, first.datatype === 'Reference' ? 'reference' : undefined);
			return { type, match: 'element', path, targets: targetsOf(parameter), documentation };
		}
		case 'string':
			return { type, match: 'element', paths: elements.flatMap(stringPaths), documentation };
		case 'date':
			return { type, match: 'element', paths, documentation };
		case 'uri':
			return { type, match: 'element', paths, documentation };
		case 'quantity':
		case 'number':
			return { type, paths, documentation };
		case 'composite':
			return undefined;
	}
}

/** Returns the paths to Identifiers, which have types. */
export function ofTypePaths(elements: readonly GeneratedElement[]): Pick<SearchParameter, 'ofType'> {
	const paths = elements.filter(({ datatype }) => datatype === 'Identifier').map((element) => pathOf(element));
	return paths.length === 0 ? {} : { ofType: paths };
}

/** R4 does not say it of a parameter in any other way. */
export function isPhonetic(name: string): boolean {
	return name === 'phonetic';
}

/** Looks for words of names that sound alike. A title is none of a person's names. */
export function soundParameter({ elements, documentation }: GeneratedParameter): SearchParameter {
	const paths = elements.flatMap(stringPaths).filter((path) => !/\.(?:prefix|suffix)$/.test(path));
	return { type: 'string', match: 'sound', paths, documentation };
}

export function stringPaths(element: GeneratedElement): string[] {
	return (stringMembers(element.datatype) ?? [undefined]).map((member) => pathOf(element, member));
}

/** Returns the parameter of a type with a table of its own; undefined if it cannot be searched in the resource itself. */
export function elementParameter(type: GeneratedType, name: string): SearchParameter | undefined {
	const parameter = type.search[name];
	if (parameter === undefined || parameter.exists === true) return undefined;
	if (isPhonetic(name)) return soundParameter(parameter);
	return parameter.type === 'composite' ? compositeParameter(type, parameter) : plainParameter(parameter);
}

/** Returns a parameter that looks at the elements that it names; undefined if no single one can look at all of them. */
export function plainParameter(parameter: GeneratedParameter): SearchParameter | undefined {
	return ofElements(parameter, parameter.elements);
}

/** A composite whose components must hold for one and the same item (FHIR R4 §3.1.1.4.13). */
export function compositeParameter({ search }: GeneratedType, parameter: GeneratedParameter): SearchParameter {
	const { components = [], within, documentation } = parameter;
	if (within === undefined) return { type: 'composite', components, documentation };
	const items = within.map((path): CompositeItems => {
		const parameters = components.map((name) => {
			const component = search[name];
			if (component === undefined) throw new Error(`${name} is no parameter`);
			const elements = component.elements.flatMap((element) => inItem(element, path, within));
			// Each element by itself, as their forms may differ.
			return elements.flatMap((element) => ofElements(component, [element]) ?? []);
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
