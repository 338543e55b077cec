import type { JsonObject } from '#core/json.ts';
import { isIdentified } from '#record/person-or-place.ts';
import type { Term } from '#record/search-term.ts';
import type { Column } from '#record/table-shape.ts';
import { asObject, asText } from './elements.ts';
import { compositeParameter, isPhonetic, ofTypePaths, soundParameter, stringPaths, targetsOf } from './generated-elements.ts';
import { hullOf, namedRow, pathOf, rangesOf, stringsOf, termsOf, textPathsOf, valuesOf } from './generated-values.ts';
import { originLink } from './links.ts';
import {
	defineResource,
	type ResourceDefinition,
	readInteractions,
	type SearchColumns,
	type SearchParameter,
	writeInteractions,
} from './resource.ts';
import type { GeneratedParameter, GeneratedType } from './resources/generated-type.ts';

/** The table that all types without a table of their own share (migrations/0040-other-resources.ts), and its pairs of date columns. */
const table = 'other_resource';
const dateColumns = ['date1', 'date2', 'date3'] as const;
const severalDates = 'date_values';

/**
 * Makes the definition of a resource type from what R4 says of it. Its rows are in the shared table: tokens, references and URIs are
 * searched by terms, strings by one column of texts, and dates by a pair of columns each.
 */
export function generatedResource<Type extends string>(generated: GeneratedType<Type>): ResourceDefinition<Type, never> {
	const { type, summary, mandatory, example } = generated;
	const dates = Object.entries(generated.search).filter(([, { type: kind }]) => kind === 'date');
	if (dates.length > dateColumns.length) throw new Error(`${type} has more date parameters than the table has columns`);
	const columnOf = new Map(dates.map(([name], index) => [name, dateColumns[index] ?? '']));
	return defineResource<Type>({
		type,
		interactions: [...readInteractions, ...writeInteractions, 'delete'],
		table: `${table}/${type}`,
		compartment: generated.patient.length === 0 ? 'none' : { patient: (resource) => patientOf(generated, resource), chart: undefined },
		// Messages make these too, and change only what they made.
		...(isIdentified(type) ? { links: [originLink], statedLinks: () => ({ origin: null }) } : {}),
		columns: [searchTerms(generated), searchStrings(generated), searchDates(dates.map(([, parameter]) => parameter))],
		search: Object.fromEntries(
			Object.entries(generated.search).map(([name, parameter]) => [name, parameterOf(generated, name, parameter, columnOf.get(name))]),
		),
		summary,
		mandatory,
		example,
	});
}

/** Returns the row of the patient to whose compartment the resource belongs: the first that its parameters name. */
function patientOf({ patient, search }: GeneratedType, resource: JsonObject): string | null {
	for (const name of patient) {
		for (const element of search[name]?.elements ?? []) {
			for (const value of valuesOf(resource, element)) {
				const named = namedRow(asText(asObject(value)?.['reference']) ?? '');
				if (named?.type === 'Patient') return named.rowId;
			}
		}
	}
	return null;
}

function searchTerms({ type, search }: GeneratedType): SearchColumns {
	const parameters = Object.entries(search);
	return {
		columns: [{ name: 'terms', sqlType: 'bigint[]' }],
		valuesOf: (resource) => {
			const terms = new Set<Term>();
			for (const [name, parameter] of parameters) termsOf(`${type}.${name}`, parameter, resource, terms);
			return [terms.size === 0 ? null : [...terms]];
		},
	};
}

function searchStrings({ search }: GeneratedType): SearchColumns {
	const parameters = Object.values(search).filter(({ type: kind }) => kind === 'string');
	return { columns: [{ name: 'strings', sqlType: 'text' }], valuesOf: (resource) => [stringsOf(parameters, resource)] };
}

/** Fills a pair of columns for each parameter, and the ranges themselves if a parameter has several. */
function searchDates(parameters: readonly GeneratedParameter[]): SearchColumns {
	if (parameters.length === 0) return { columns: [], valuesOf: () => [] };
	const names = dateColumns.slice(0, parameters.length);
	return {
		columns: [
			...names.flatMap((name): Column[] => [
				{ name: `${name}_start`, sqlType: 'timestamptz' },
				{ name: `${name}_end`, sqlType: 'timestamptz' },
			]),
			{ name: severalDates, sqlType: 'text' },
		],
		valuesOf: (resource) => {
			const all = parameters.map((parameter) => rangesOf(parameter, resource));
			const several = all.flatMap((ranges, index) => (ranges.length > 1 ? [[names[index] ?? '', ranges] as const] : []));
			return [...all.flatMap((ranges) => hullOf(ranges)), several.length === 0 ? null : JSON.stringify(Object.fromEntries(several))];
		},
	};
}

function parameterOf(
	generated: GeneratedType,
	name: string,
	parameter: GeneratedParameter,
	dateColumn: string | undefined,
): SearchParameter {
	const { type } = generated;
	const { documentation, elements } = parameter;
	const scope = `${type}.${name}`;
	switch (parameter.type) {
		case 'token':
			return {
				type: 'token',
				match: 'term',
				scope,
				...listed('textPaths', elements.flatMap(textPathsOf)),
				...ofTypePaths(elements),
				documentation,
			};
		case 'uri':
			return { type: 'uri', match: 'term', scope, paths: elements.map((element) => pathOf(element)), documentation };
		case 'reference': {
			// Resources are included by references, not by canonical URLs.
			const literal = elements.filter(({ datatype }) => datatype === 'Reference');
			const paths = literal.map((element) => pathOf(element, 'reference'));
			const walks = literal.map(({ path }) => path.split('.'));
			return { type: 'reference', match: 'term', scope, paths, walks, targets: targetsOf(parameter), documentation };
		}
		case 'string': {
			if (isPhonetic(name)) return { ...soundParameter(parameter), scope };
			const paths = elements.flatMap(stringPaths);
			return { type: 'string', match: 'element', scope, paths, column: 'strings', documentation };
		}
		case 'date':
			return {
				type: 'date',
				match: 'range',
				scope,
				columnType: 'timestamptz',
				startColumn: `${dateColumn}_start`,
				endColumn: `${dateColumn}_end`,
				several: { column: severalDates, name: dateColumn ?? '' },
				documentation,
			};
		case 'quantity':
		case 'number':
			return { type: parameter.type, scope, paths: elements.map((element) => pathOf(element)), documentation };
		case 'composite':
			return compositeParameter(generated, parameter);
	}
}

function listed<Name extends string>(name: Name, items: readonly string[]): Partial<Record<Name, readonly string[]>> {
	return items.length === 0 ? {} : ({ [name]: items } as Record<Name, readonly string[]>);
}
