import type { Json, JsonObject } from '#core/json.ts';
import { indexText } from '#record/index-text.ts';
import type { Column, ColumnValue } from '#record/table-shape.ts';
import type { Bounds } from './date.ts';
import { asObject, asObjects, asText } from './elements.ts';
import type { SearchColumns, SearchParameter } from './resource.ts';

export function oneColumn(name: string, sqlType: Column['sqlType'], read: (resource: JsonObject) => ColumnValue): SearchColumns {
	return { columns: [{ name, sqlType }], valuesOf: (resource) => [read(resource)] };
}

function indexed(text: string | undefined): string | null {
	return text === undefined ? null : indexText(text);
}

/** Fills a column from an element of type code, or with `fallback` if it is absent. */
export function codeColumn(element: string, fallback: string | null = null): SearchColumns {
	return oneColumn(element, 'text', (resource) => indexed(asText(resource[element])) ?? fallback);
}

/** Fills a column with the first code of a CodeableConcept. Its binding is required, so its system is known. */
export function conceptCodeColumn(name: string, element: string): SearchColumns {
	return oneColumn(name, 'text', (resource) => indexed(asText(codingsOf(resource[element])[0]?.['code'])));
}

/**
 * A CodeableConcept in three columns: system and code of the first coding, and of each further one three tokens:
 * `system|code`, `system|` and `code`, in this order.
 */
export function codingColumns(prefix: string, conceptsOf: (resource: JsonObject) => readonly (Json | undefined)[]): SearchColumns {
	return {
		columns: [
			{ name: `${prefix}_system`, sqlType: 'text' },
			{ name: `${prefix}_value`, sqlType: 'text' },
			{ name: `${prefix}_further`, sqlType: 'text[]' },
		],
		valuesOf: (resource) => {
			const codings = conceptsOf(resource).flatMap((concept) => codingsOf(concept));
			const [first, ...further] = codings;
			const tokens = further.flatMap((coding) => {
				const [system, code] = [asText(coding['system']) ?? '', asText(coding['code']) ?? ''];
				return [`${system}|${code}`, `${system}|`, code].map((token) => indexText(token));
			});
			return [asText(first?.['system']) ?? null, indexed(asText(first?.['code'])), tokens.length === 0 ? null : tokens];
		},
	};
}

function codingsOf(concept: Json | undefined): JsonObject[] {
	return asObjects(asObject(concept)?.['coding']).filter((coding) => asText(coding['code']) !== undefined);
}

/** A range of time in two columns, its end excluded. */
export function instantColumns(prefix: string, boundsOf: (resource: JsonObject) => Bounds): SearchColumns {
	return {
		columns: [
			{ name: `${prefix}_start`, sqlType: 'timestamptz' },
			{ name: `${prefix}_end`, sqlType: 'timestamptz' },
		],
		valuesOf: boundsOf,
	};
}

/** A CodeableConcept on three columns; `element` is its name. */
export function codingParameter(prefix: string, documentation: string, element: string = prefix): SearchParameter {
	return {
		type: 'token',
		match: 'coding',
		systemColumn: `${prefix}_system`,
		valueColumn: `${prefix}_value`,
		furtherColumn: `${prefix}_further`,
		path: `$.${element}`,
		documentation,
	};
}

/** Searches a code in a column. `path` leads to the element if its name differs from the column's. */
export function codeParameter(column: string, system: string, documentation: string, path: string = `$.${column}`): SearchParameter {
	return { type: 'token', match: 'code', column, system, path, documentation };
}

/** `presence` leads to the forms of its element that may have no range. */
export function instantParameter(prefix: string, documentation: string, presence: readonly string[] = []): SearchParameter {
	return {
		presence,
		type: 'date',
		match: 'range',
		columnType: 'timestamptz',
		startColumn: `${prefix}_start`,
		endColumn: `${prefix}_end`,
		documentation,
	};
}

export function patientParameter(documentation: string, path = '$.subject'): SearchParameter {
	return { type: 'reference', match: 'column', column: 'patient_id', targets: ['Patient'], path, documentation };
}

/**
 * Searches a subject that may be something else than a patient, too. A column has the patient, and the index of elements only what it does not have, so
 * resources about patients cost nothing more.
 */
export function subjectParameter(documentation: string, others: readonly string[]): SearchParameter {
	return { type: 'reference', match: 'column', column: 'patient_id', targets: ['Patient', ...others], path: '$.subject', documentation };
}

/** Searches the patient by a column, for types without a stored resource. */
export function patientColumnParameter(documentation: string): SearchParameter {
	return { type: 'reference', match: 'column', column: 'patient_id', targets: ['Patient'], path: undefined, documentation };
}

export function encounterParameter(documentation: string): SearchParameter {
	return { type: 'reference', match: 'column', column: 'encounter_id', targets: ['Encounter'], path: '$.encounter', documentation };
}

/** Searches CodeableConcepts in the resource itself. */
export function conceptParameter(element: string, documentation: string): SearchParameter {
	const textPaths = [`$.${element}.text`, `$.${element}.coding.display`];
	return { type: 'token', match: 'element', paths: [`$.${element}.coding`], form: 'coding', textPaths, documentation };
}

export function identifierParameter(documentation: string): SearchParameter {
	return {
		type: 'token',
		match: 'element',
		paths: ['$.identifier'],
		form: 'identifier',
		ofType: ['$.identifier'],
		textPaths: ['$.identifier.type.text'],
		documentation,
	};
}

/** Searches references to resources that this service does not store, or stores without a column. */
export function elementReference(element: string, targets: readonly string[], documentation: string): SearchParameter {
	return { type: 'reference', match: 'element', path: `$.${element}.reference`, targets, documentation };
}

export function textParameter(paths: readonly string[], documentation: string, presence: readonly string[] = paths): SearchParameter {
	return { type: 'string', match: 'element', paths, presence, documentation };
}

/** Searches a boolean or code in the resource itself. */
export function valueParameter(element: string, documentation: string, system?: string): SearchParameter {
	return {
		type: 'token',
		match: 'element',
		paths: [`$.${element}`],
		form: 'value',
		...(system === undefined ? {} : { system }),
		documentation,
	};
}

/** ContactPoints, by system and value. */
export function contactParameter(path: string, documentation: string): SearchParameter {
	return { type: 'token', match: 'element', paths: [path], form: 'identifier', documentation };
}
