import type { Json, JsonObject } from '#core/json.ts';
import { isFhirId, rowIdOf } from '#record/row-id.ts';
import { type Term, termOf, termTexts } from '#record/search-term.ts';
import { type Bounds, instantBounds, periodBounds } from './date.ts';
import { asObject, asObjects, asText, asTexts } from './elements.ts';
import { plain } from './fold.ts';
import type { GeneratedElement, GeneratedParameter } from './resources/generated-type.ts';

/** Reads from a resource what the index of its search parameters holds (FHIR R4 §3.1.1.4). */

/** Returns the values of an element. Lists on the way and at its end are walked through. */
export function valuesOf(resource: JsonObject, { path, where }: GeneratedElement): Json[] {
	let values: Json[] = [resource];
	let at = '';
	for (const name of path === '' ? [] : path.split('.')) {
		at = at === '' ? name : `${at}.${name}`;
		const next: Json[] = [];
		for (const value of values) {
			const member = asObject(value)?.[name];
			if (Array.isArray(member)) next.push(...member);
			else if (member !== undefined && member !== null) next.push(member);
		}
		values = where?.at === at ? next.filter((value) => asObject(value)?.[where.member] === where.value) : next;
		if (values.length === 0) return values;
	}
	return values;
}

/** Returns the SQL/JSON path to the items of an element, or to a member of it. */
export function pathOf({ path, where }: Pick<GeneratedElement, 'path' | 'where'>, member?: string): string {
	let text = '$';
	let at = '';
	let isFiltered = false;
	for (const name of path === '' ? [] : path.split('.')) {
		at = at === '' ? name : `${at}.${name}`;
		text += `.${name}`;
		if (where?.at !== at) continue;
		text += `[*] ? (@.${where.member} == "${where.value}")`;
		isFiltered = true;
	}
	if (member !== undefined) text += `.${member}`;
	// A path with a filter defines its results itself; any other is walked through to its items by the search.
	return isFiltered && !text.endsWith(')') ? `${text}[*]` : text;
}

/** Returns the terms of a parameter: that it has a value, and the values of a token, reference or URI. `scope` names the type and the parameter. */
export function termsOf(scope: string, parameter: GeneratedParameter, resource: JsonObject, terms: Set<Term>): void {
	const add = (text: string) => terms.add(termOf(text));
	let isPresent = false;
	for (const element of parameter.elements) {
		for (const value of valuesOf(resource, element)) {
			if (parameter.exists === true && value === false) continue;
			isPresent = true;
			if (parameter.exists === true) continue;
			if (parameter.type === 'reference') addReference(scope, value, add);
			else if (parameter.type === 'uri') addText(scope, value, add);
			else if (parameter.type === 'token') addToken(scope, element, value, add);
		}
	}
	if (parameter.exists === true) add(termTexts.code(scope, String(isPresent)));
	if (isPresent) add(termTexts.present(scope));
}

type Add = (text: string) => void;

function addToken(scope: string, { datatype, system }: GeneratedElement, value: Json, add: Add): void {
	const object = asObject(value);
	if (object === undefined) {
		addCode(scope, system, String(value), add);
		return;
	}
	// A raw number is an object too.
	if (datatype === 'CodeableConcept') for (const coding of asObjects(object['coding'])) addCoding(scope, coding, 'code', add);
	else if (datatype === 'Coding') addCoding(scope, object, 'code', add);
	else if (datatype === 'Identifier' || datatype === 'ContactPoint') addCoding(scope, object, 'value', add);
	else addCode(scope, system, String(value), add);
}

function addCoding(scope: string, coding: JsonObject, member: string, add: Add): void {
	const code = asText(coding[member]);
	if (code !== undefined) addCode(scope, asText(coding['system']), code, add);
	else if (asText(coding['system']) !== undefined) add(termTexts.system(scope, asText(coding['system']) ?? ''));
}

function addCode(scope: string, system: string | undefined, code: string, add: Add): void {
	add(termTexts.code(scope, code));
	add(termTexts.coded(scope, system ?? '', code));
	if (system !== undefined) add(termTexts.system(scope, system));
}

/** A literal reference to this service, `Type/id`, is found by its row; any other by its text. */
function addReference(scope: string, value: Json, add: Add): void {
	if (typeof value === 'string') {
		addText(scope, value, add);
		return;
	}
	const object = asObject(value);
	const text = asText(object?.['reference']);
	if (text !== undefined) add(referenceTerm(scope, text));
	const identifier = asObject(object?.['identifier']);
	const number = asText(identifier?.['value']);
	if (number === undefined) return;
	add(termTexts.logicalValue(scope, number));
	add(termTexts.logical(scope, asText(identifier?.['system']) ?? '', number));
}

/** Returns the text of the term by which a reference is found. The version in a reference does not matter. */
export function referenceTerm(scope: string, text: string): string {
	const named = namedRow(text);
	return named === undefined ? termTexts.text(scope, text) : `${termTexts.rowPrefix(scope, named.type)}${named.rowId}`;
}

/** Returns the type and row that a relative reference names. */
export function namedRow(text: string): { type: string; rowId: string } | undefined {
	const [, type = '', id = ''] = /^([A-Z][A-Za-z]{1,63})\/([^/]+)(?:\/_history\/[^/]+)?$/.exec(text) ?? [];
	return isFhirId(id) ? { type, rowId: rowIdOf(id) } : undefined;
}

/** A canonical URL is found with and without its version. */
function addText(scope: string, value: Json, add: Add): void {
	const text = asText(value);
	if (text === undefined) return;
	add(termTexts.text(scope, text));
	const [url = '', version] = text.split('|');
	if (version !== undefined) add(termTexts.text(scope, url));
}

const nameMembers = ['text', 'family', 'given', 'prefix', 'suffix'];
const addressMembers = ['text', 'line', 'city', 'district', 'state', 'postalCode', 'country'];

/** Returns the members of a data type that a string parameter looks at; undefined for a primitive. */
export function stringMembers(datatype: string): readonly string[] | undefined {
	if (datatype === 'HumanName') return nameMembers;
	return datatype === 'Address' ? addressMembers : undefined;
}

/** Returns the texts of all string parameters, folded, one a line; null when there is none. */
export function stringsOf(parameters: readonly GeneratedParameter[], resource: JsonObject): string | null {
	const texts = new Set<string>();
	for (const { elements } of parameters) {
		for (const element of elements) {
			const members = stringMembers(element.datatype);
			for (const value of valuesOf(resource, element)) {
				const found = members === undefined ? [asText(value) ?? ''] : members.flatMap((name) => memberTexts(asObject(value)?.[name]));
				for (const text of found) if (text !== '') texts.add(plain(text));
			}
		}
	}
	return texts.size === 0 ? null : [...texts].join('\n');
}

function memberTexts(value: Json | undefined): string[] {
	return typeof value === 'string' ? [value] : asTexts(value);
}

/** Returns the ranges of a date parameter. */
export function rangesOf({ elements }: GeneratedParameter, resource: JsonObject): Bounds[] {
	return elements
		.flatMap((element) => valuesOf(resource, element).flatMap((value) => rangesIn(element.datatype, value)))
		.filter(([start]) => start !== null);
}

/** Returns the range from the first to the last moment of all; nulls when there is none. */
export function hullOf(ranges: readonly Bounds[]): Bounds {
	let [start, end]: [string | null, string | null] = [null, null];
	for (const [from, to] of ranges) {
		if (from !== null && (start === null || isBefore(from, start))) start = from;
		if (to !== null && (end === null || isBefore(end, to))) end = to;
	}
	return [start, end];
}

function rangesIn(datatype: string, value: Json): Bounds[] {
	if (typeof value === 'string') return [instantBounds(value)];
	const object = asObject(value);
	if (object === undefined) return [];
	if (datatype === 'Period') return [periodBounds(asText(object['start']), asText(object['end']))];
	if (datatype !== 'Timing') return [];
	const period = asObject(asObject(object['repeat'])?.['boundsPeriod']);
	const events = asTexts(object['event']).map((event) => instantBounds(event));
	return period === undefined ? events : [...events, periodBounds(asText(period['start']), asText(period['end']))];
}

function isBefore(one: string, other: string): boolean {
	if (one === other || one === 'infinity' || other === '-infinity') return false;
	return one === '-infinity' || other === 'infinity' || one < other;
}

/** Returns the paths to the texts of a token (§3.1.1.4.10 `:text`). */
export function textPathsOf(element: GeneratedElement): string[] {
	switch (element.datatype) {
		case 'CodeableConcept':
			return [pathOf(element, 'text'), pathOf(element, 'coding.display')];
		case 'Coding':
			return [pathOf(element, 'display')];
		case 'Identifier':
			return [pathOf(element, 'type.text')];
		default:
			return [];
	}
}
