import type { GeneratedElement } from '../../resources/generated-type.ts';
import type { Definitions, ElementDefinition } from './definitions.ts';

/** Follows the expressions of R4's search parameters through the StructureDefinitions to the elements that they lead to. */

/** An element with what is known of the references in it. */
export interface Found extends GeneratedElement {
	/** Types that its references may lead to; undefined if these are all. */
	targets: readonly string[] | undefined;
	exists: boolean;
}

type ElementType = NonNullable<ElementDefinition['type']>[number];

/** A place on the way: the element, and one of the types that it may have. */
interface Place {
	names: readonly string[];
	element: ElementDefinition;
	type: ElementType | undefined;
	where: GeneratedElement['where'];
	targets: readonly string[] | undefined;
	exists: boolean;
}

/** Kinds of Quantity that R4 defines as profiles. */
const profiles = ['SimpleQuantity', 'MoneyQuantity'];

export class ExpressionReader {
	readonly #definitions: Definitions;

	constructor(definitions: Definitions) {
		this.#definitions = definitions;
	}

	/** Returns the elements to which an expression leads in a type of resource. */
	elements(type: string, expression: string): Found[] {
		return alternativesOf(type, expression).flatMap((steps) => this.#places(type, steps).map((place) => this.#found(place)));
	}

	/** Returns the paths of the elements in which the components of a composite stand together. */
	contexts(type: string, expression: string): string[] {
		return alternativesOf(type, expression).map((steps) => steps.join('.'));
	}

	#places(type: string, steps: readonly string[]): Place[] {
		let places = this.#members(type, type, steps[0] ?? '', { names: [], where: undefined, targets: undefined, exists: false });
		for (const step of steps.slice(1)) places = places.flatMap((place) => this.#step(place, step));
		if (places.length === 0) throw new Error(`${type}.${steps.join('.')} leads nowhere`);
		return places;
	}

	#step(place: Place, step: string): Place[] {
		const [, call, argument = ''] = /^(\w+)\((.*)\)$/.exec(step) ?? [];
		if (call === undefined) return this.#next(place, step);
		if (call === 'ofType' || call === 'as') return place.type?.code === argument ? [place] : [];
		if (call === 'exists') return [{ ...place, exists: true }];
		const [, resolved] = /^resolve\(\) is (\w+)$/.exec(argument) ?? [];
		if (call === 'where' && resolved !== undefined) return [{ ...place, targets: [resolved] }];
		const [, member, value] = /^(\w+)='([^']*)'$/.exec(argument) ?? [];
		if (call === 'where' && member !== undefined && value !== undefined) {
			return [{ ...place, where: { at: place.names.join('.'), member, value } }];
		}
		throw new Error(`the step ${step} of a search parameter is not known`);
	}

	#next(place: Place, name: string): Place[] {
		const { element, type } = place;
		if (element.contentReference !== undefined) return this.#members(rootOf(element.path), element.contentReference.slice(1), name, place);
		const isInline = type === undefined || type.code === 'BackboneElement' || type.code === 'Element';
		if (isInline) return this.#members(rootOf(element.path), element.path, name, place);
		return this.#members(type.code, type.code, name, place);
	}

	/** Returns a member of the element at a path of a structure, once for each of its types. */
	#members(structure: string, path: string, name: string, before: Omit<Place, 'element' | 'type'>): Place[] {
		const elements = this.#definitions.structure(structure).snapshot.element;
		const element = elements.find((candidate) => candidate.path === `${path}.${name}` || candidate.path === `${path}.${name}[x]`);
		if (element === undefined) throw new Error(`${path} has no element ${name}`);
		const isChoice = element.path.endsWith('[x]');
		const types = element.type?.length ? element.type : [undefined];
		return types.map((type) => ({
			...before,
			names: [...before.names, isChoice && type !== undefined ? name + capitalized(type.code) : name],
			element,
			type,
		}));
	}

	#found({ names, element, type, where, targets, exists }: Place): Found {
		const datatype = datatypeOf(element, type);
		const stated = (type?.targetProfile ?? []).map((url) => url.slice(url.lastIndexOf('/') + 1));
		const allowed = stated.length === 0 || stated.includes('Resource') ? undefined : stated;
		return {
			path: names.join('.'),
			datatype,
			...(where === undefined ? {} : { where }),
			...this.#systemOf(datatype, element),
			targets: targets ?? allowed,
			exists,
		};
	}

	#systemOf(datatype: string, { binding }: ElementDefinition): Pick<GeneratedElement, 'system'> {
		if (datatype !== 'code' || binding?.strength !== 'required' || binding.valueSet === undefined) return {};
		const [system = '', ...further] = this.#definitions.systemsOf(binding.valueSet);
		return system === '' || further.length > 0 ? {} : { system };
	}
}

function datatypeOf({ path }: ElementDefinition, type: ElementType | undefined): string {
	const code = type?.code ?? 'BackboneElement';
	if (code.startsWith('http:')) return path.endsWith('.id') ? 'id' : 'uri';
	return profiles.find((name) => type?.profile?.some((url) => url.endsWith(`/${name}`))) ?? code;
}

/** Cuts an expression into its alternatives for one type, and each of these into steps. Those of other types are left out. */
function alternativesOf(type: string, expression: string): string[][] {
	return (
		cut(expression.replace(/ and .*$/, ''), '|')
			.map((alternative) => stepsOf(alternative.trim()))
			// A lower-case start is an element of the only type that has the parameter.
			.map((steps) => (/^[a-z]/.test(steps[0] ?? '') ? [type, ...steps] : steps))
			.filter(([first]) => first === type)
			.map(([, ...steps]) => steps)
	);
}

/** `(Observation.value as Quantity).unit` → Observation, value, as(Quantity), unit. */
function stepsOf(alternative: string): string[] {
	return cut(alternative, '.').flatMap((step) => {
		const [, inner] = /^\((.*)\)$/.exec(step) ?? [];
		if (inner === undefined) return [step];
		const [, path, cast] = /^(.*) as (\w+)$/.exec(inner) ?? [];
		return path === undefined ? stepsOf(inner) : [...stepsOf(path), `as(${cast})`];
	});
}

/** Splits a text at a character, but not inside parentheses. */
function cut(text: string, at: string): string[] {
	const parts = [''];
	let depth = 0;
	for (const character of text) {
		if (character === '(') depth++;
		if (character === ')') depth--;
		if (character === at && depth === 0) parts.push('');
		else parts[parts.length - 1] += character;
	}
	return parts;
}

const rootOf = (path: string): string => path.split('.')[0] ?? '';
const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
