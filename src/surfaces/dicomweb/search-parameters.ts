import { Failure } from '#core/failure.ts';
import { namesAttribute } from '#dicom/keywords.ts';
import { queryAttributeOf, queryAttributes } from '#dicom/query/attributes.ts';
import type { QueryKey } from '#dicom/query/plan.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import type { ImagingAttribute } from '#record/imaging-query.ts';

/** The parsed query parameters of a search (PS3.18 §8.3.4). */
export interface SearchParameters {
	keys: QueryKey[];
	/** The attributes that includefield names. */
	included: ImagingAttribute[];
	includesAll: boolean;
	limit: number | undefined;
	offset: number;
	fuzzyNames: boolean;
	/** Parameters that were given but are ignored, for the Warning headers. */
	ignored: string[];
}

/** UIDs and code strings contain no comma, so a comma separates values (PS3.18 §8.3.4.1). */
const listVrs: ReadonlySet<string> = new Set(['UI', 'CS']);
const keywordPattern = /^[A-Z][A-Za-z0-9]*$/;
const tagPattern = /^[0-9A-Fa-f]{8}$/;

function attributeOf(id: string): ImagingAttribute | undefined {
	if (tagPattern.test(id)) return queryAttributeOf(Number.parseInt(id, 16));
	return Object.hasOwn(queryAttributes, id) ? (id as ImagingAttribute) : undefined;
}

/** Tells whether the text is a keyword or tag, or several joined by dots that lead into sequences. */
function isAttributeId(text: string): boolean {
	return text.split('.').every((part) => tagPattern.test(part) || keywordPattern.test(part));
}

/** @throws Failure `invalid` */
function count(name: string, text: string): number {
	if (!/^\d{1,9}$/.test(text)) throw new Failure('invalid', `${name} is not a number`);
	return Number(text);
}

/** @throws Failure `invalid` */
function flag(name: string, text: string): boolean {
	if (text !== 'true' && text !== 'false') throw new Failure('invalid', `${name} must be true or false`);
	return text === 'true';
}

/** @throws Failure `invalid` for parameters that no search has. Attributes that the index lacks are ignored, and listed as such */
export function searchParameters(query: string, limits: Pick<FhirLimits, 'searchParametersMax'>): SearchParameters {
	const parameters = [...new URLSearchParams(query)];
	if (parameters.length > limits.searchParametersMax) throw new Failure('invalid', `more than ${limits.searchParametersMax} parameters`);
	const read: SearchParameters = {
		keys: [],
		included: [],
		includesAll: false,
		limit: undefined,
		offset: 0,
		fuzzyNames: false,
		ignored: [],
	};
	for (const [name, value] of parameters) {
		if (name === 'limit') read.limit = count(name, value);
		else if (name === 'offset') read.offset = count(name, value);
		else if (name === 'includefield') include(read, value);
		else if (name === 'fuzzymatching') read.fuzzyNames = flag(name, value);
		else if (name !== 'accept') match(read, name, value);
	}
	return read;
}

function include(read: SearchParameters, value: string): void {
	for (const id of value.split(',').map((part) => part.trim())) {
		if (id === 'all') read.includesAll = true;
		else if (!isAttributeId(id)) throw new Failure('invalid', 'includefield must be a keyword, a tag or all');
		const attribute = attributeOf(id);
		if (attribute !== undefined) read.included.push(attribute);
	}
}

/** A value that lost its name may be a patient's, so that only what has the form of an attribute is repeated. */
function unknown(name: string): Failure {
	const named = /^[A-Za-z0-9.]{1,64}$/.test(name) ? `the parameter ${name}` : 'a parameter';
	return new Failure('invalid', `${named} is neither a search parameter nor an attribute of DICOM`);
}

function match(read: SearchParameters, name: string, value: string): void {
	if (!namesAttribute(name)) throw unknown(name);
	const attribute = attributeOf(name);
	if (attribute === undefined || (queryAttributes[attribute].matching === 'none' && value !== '')) {
		read.ignored.push(`The attribute ${name} is not supported for matching and has been ignored.`);
		return;
	}
	if (read.keys.some((key) => key.attribute === attribute)) throw new Failure('invalid', `${attribute} is given more than once`);
	read.keys.push({ attribute, value: listVrs.has(queryAttributes[attribute].vr) ? value.replaceAll(',', '\\') : value });
}
