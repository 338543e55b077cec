import type { GeneratedElement, GeneratedParameter } from '../../resources/generated-type.ts';
import type { Definitions, SearchParameter } from './definitions.ts';
import { ExpressionReader, type Found } from './expressions.ts';

/** Makes the search parameters of a type from those of R4. */

/** The datatypes in which each kind of parameter finds values (R4 §3.1.1.4 and §3.1.1.5). */
const datatypes: Readonly<Record<Exclude<GeneratedParameter['type'], 'composite'>, ReadonlySet<string>>> = {
	token: new Set(['Coding', 'CodeableConcept', 'Identifier', 'ContactPoint', 'code', 'boolean', 'string', 'uri', 'id', 'canonical']),
	reference: new Set(['Reference', 'canonical', 'uri', 'url']),
	string: new Set(['string', 'markdown', 'HumanName', 'Address']),
	date: new Set(['date', 'dateTime', 'instant', 'Period', 'Timing']),
	uri: new Set(['uri', 'url', 'canonical', 'oid', 'uuid']),
	quantity: new Set([
		'Quantity',
		'SimpleQuantity',
		'MoneyQuantity',
		'Money',
		'Age',
		'Duration',
		'Count',
		'Distance',
		'Range',
		'SampledData',
	]),
	number: new Set(['decimal', 'integer', 'positiveInt', 'unsignedInt']),
};

/** Parameters by name, and the reasons why others of R4 are left out. */
export interface SearchFacts {
	search: Record<string, GeneratedParameter>;
	notServed: Record<string, string>;
}

export function searchFacts(definitions: Definitions, type: string): SearchFacts {
	const reader = new ExpressionReader(definitions);
	const facts: SearchFacts = { search: {}, notServed: {} };
	for (const parameter of definitions.searchParameters(type)) {
		const { code, type: kind, expression } = parameter;
		if (kind === 'special')
			facts.notServed[code] =
				'R4 leaves to each server how near is near, and needs the parameter `near-distance`, which it does not define';
		else if (expression === undefined) facts.notServed[code] = 'R4 has no expression for it';
		else if (kind === 'composite') facts.search[code] = composite(definitions, reader, type, parameter);
		else if (isKind(kind)) facts.search[code] = plain(reader, type, parameter, kind, expression);
		else throw new Error(`${type} has a search parameter of type ${kind}`);
	}
	return facts;
}

const isKind = (kind: string): kind is keyof typeof datatypes => Object.hasOwn(datatypes, kind);

function plain(
	reader: ExpressionReader,
	type: string,
	parameter: SearchParameter,
	kind: keyof typeof datatypes,
	expression: string,
): GeneratedParameter {
	const found = reader.elements(type, expression);
	const exists = found.some((element) => element.exists);
	const fitting = exists ? found : found.filter(({ datatype }) => datatypes[kind].has(datatype));
	if (fitting.length === 0) throw new Error(`${type}?${parameter.code} finds nothing of type ${kind}`);
	const leads = kind === 'reference' ? targetsOf(fitting, parameter) : undefined;
	return {
		type: kind,
		documentation: documentationOf(type, parameter),
		elements: fitting.map(elementOf),
		...(leads === undefined ? {} : { targets: leads }),
		...(exists ? { exists } : {}),
	};
}

const elementOf = ({ path, datatype, where, system }: Found): GeneratedElement => ({
	path,
	datatype,
	...(where === undefined ? {} : { where }),
	...(system === undefined ? {} : { system }),
});

function composite(definitions: Definitions, reader: ExpressionReader, type: string, parameter: SearchParameter): GeneratedParameter {
	const { expression = '', component = [] } = parameter;
	const contexts = reader.contexts(type, expression);
	const named = component.map(({ definition }) => definitions.searchParameter(definition));
	// DocumentReference?relationship names its two parameters in the order that its expressions and its description have not.
	const leads = (inner: string, { expression: own = '' }: SearchParameter) =>
		contexts.some((context) => own === [type, context, inner].filter((step) => step !== '').join('.'));
	const joined = component.map(({ expression: inner }, at) => named.find((other) => leads(inner, other)) ?? named[at]);
	return {
		type: 'composite',
		documentation: documentationOf(type, parameter),
		elements: [],
		components: joined.filter((other) => other !== undefined).map(({ code }) => code),
		...(contexts.every((path) => path === '') ? {} : { within: contexts }),
	};
}

/** The types that both the parameter and its elements allow; undefined if these are all. */
function targetsOf(found: readonly Found[], { target }: SearchParameter): string[] | undefined {
	const ofElements = found.some(({ targets }) => targets === undefined) ? undefined : new Set(found.flatMap(({ targets = [] }) => targets));
	// R4 writes the list of all types where an element has no targets of its own.
	if (ofElements === undefined) return target === undefined || target.length > everyTypeFrom ? undefined : [...target].sort();
	const both = target === undefined ? [...ofElements] : [...ofElements].filter((name) => target.includes(name));
	return (both.length === 0 ? [...ofElements] : both).sort();
}

/** The longest list of some types has 30, the shortest of all types 140. */
const everyTypeFrom = 100;

/** Returns the first sentence about the parameter in this type, as text without markup. */
function documentationOf(type: string, { description }: SearchParameter): string {
	const [, own = description] = new RegExp(`^\\* \\[${type}\\]\\([^)]*\\): (.*)$`, 'm').exec(description.replaceAll('\r', '')) ?? [];
	const text = own
		.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
		.replaceAll(/\s+/g, ' ')
		.trim();
	const [sentence = ''] = text.split(/(?<=[a-z)]{2})\. (?=[A-Z])/);
	return sentence.replace(/\.$/, '');
}
