import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import type { CodeIndex } from './code-system.ts';
import { type CodeSystem, isVersion, type ValueSet } from './terms.ts';
import type { Member, Terminology } from './value-sets.ts';

/** The operations of terminology (FHIR R4 §4.9.5 and §4.8.17), each from the parameters of its request to the resource that answers it. */
export type TermParameters = ReadonlyMap<string, string>;

/** The most codes of one answer. A larger value set is read by `count` and `offset`. */
const shownMax = 5000;

function required(parameters: TermParameters, name: string): string {
	const value = parameters.get(name);
	if (value === undefined || value === '') throw new Failure('required-field-missing', `the parameter ${name} is required`);
	return value;
}

/** A URL or code of the caller, as it may be repeated to the caller. */
function shown(text: string): string {
	return text.length <= 250 && /^[^\s"<>\p{Cc}]+$/u.test(text) ? text : 'that is named';
}

/** A version of its own goes before one that stands in the URL. */
function canonical(parameters: TermParameters, url: string, version: string): string {
	const given = parameters.get(version) ?? '';
	return given === '' ? url : `${url.split('|')[0]}|${given}`;
}

/**
 * The caller of an operation who names a version wants no other one. A validation of resources takes what there is.
 * @throws Failure `not-found` that names the versions which are here
 */
function refuseOther(terminology: Terminology, named: string, found: CodeSystem | ValueSet): void {
	const at = named.indexOf('|');
	if (at < 0 || isVersion(found.version, named.slice(at + 1))) return;
	const versions = new Set(terminology.versions(found.kind, found.url).map((version) => version ?? 'one without a version'));
	const what = found.kind === 'ValueSet' ? 'value set' : 'code system';
	throw new Failure('not-found', `the ${what} ${shown(named)} is not known here; the versions here are: ${[...versions].join(', ')}`);
}

function valueSetOf(terminology: Terminology, named: string): ValueSet {
	const set = terminology.valueSet(named);
	if (set === undefined) throw new Failure('not-found', `the value set ${shown(named)} is not known here`);
	refuseOther(terminology, named, set);
	return set;
}

function codeSystemOf(terminology: Terminology, named: string): CodeIndex {
	const index = terminology.codeSystem(named);
	if (index === undefined) throw new Failure('not-found', `the code system ${shown(named)} is not known here`);
	refuseOther(terminology, named, index.system);
	return index;
}

/** https://hl7.org/fhir/R4/valueset-operation-expand.html */
export function expand(terminology: Terminology, parameters: TermParameters, at: string): JsonObject {
	const url = canonical(parameters, required(parameters, 'url'), 'valueSetVersion');
	const set = valueSetOf(terminology, url);
	const all = terminology.expand(url);
	if (all === undefined)
		throw new Failure('unprocessable', `the codes of the value set ${shown(url)} are not listed here in full, or it includes itself`);
	const filter = parameters.get('filter')?.toLowerCase();
	const matches = filter === undefined ? all : all.filter((member) => isMeant(member, filter));
	const offset = whole(parameters, 'offset') ?? 0;
	const count = whole(parameters, 'count');
	if ((count ?? matches.length) > shownMax && matches.length - offset > shownMax) {
		throw new Failure('unprocessable', `the value set has ${matches.length} codes; ask for them by count, at most ${shownMax}, and offset`);
	}
	const used = ['filter', 'offset', 'count'].flatMap((name) => {
		const value = parameters.get(name);
		if (value === undefined) return [];
		return [{ name, ...(name === 'filter' ? { valueString: value } : { valueInteger: Number(value) }) }];
	});
	const page = matches.slice(offset, count === undefined ? undefined : offset + count);
	return {
		resourceType: 'ValueSet',
		url: set.url,
		...(set.version === undefined ? {} : { version: set.version }),
		...(set.name === set.url ? {} : { name: set.name }),
		status: 'active',
		expansion: {
			timestamp: at,
			total: matches.length,
			offset,
			...(used.length === 0 ? {} : { parameter: used }),
			...(page.length === 0 ? {} : { contains: page.map(({ system, code, display }) => ({ system, code, display })) }),
		},
	};
}

/** The filter is a part of the display or of the code, without regard to case. */
function isMeant({ code, display }: Member, filter: string): boolean {
	return display.toLowerCase().includes(filter) || code.toLowerCase().includes(filter);
}

function whole(parameters: TermParameters, name: string): number | undefined {
	const value = parameters.get(name);
	if (value === undefined) return undefined;
	if (!/^\d{1,9}$/.test(value)) throw new Failure('invalid', `${name} is a whole number`, { location: { expression: name } });
	return Number(value);
}

/** https://hl7.org/fhir/R4/codesystem-operation-lookup.html */
export function lookUp(terminology: Terminology, parameters: TermParameters): JsonObject {
	const system = required(parameters, 'system');
	const code = required(parameters, 'code');
	const index = codeSystemOf(terminology, canonical(parameters, system, 'version'));
	const found = index.find(code);
	if (found === undefined) throw new Failure('not-found', 'the code system has no such code');
	const { name, version } = index.system;
	const property = (key: string, valueCode: string) => ({
		name: 'property',
		part: [
			{ name: 'code', valueCode: key },
			{ name: 'value', valueCode },
		],
	});
	return parametersOf([
		{ name: 'name', valueString: name },
		...(version === undefined ? [] : [{ name: 'version', valueString: version }]),
		{ name: 'display', valueString: found.display },
		...found.above.slice(0, 1).map((above) => property('parent', above)),
		...found.below.slice(0, shownMax).map(([below]) => property('child', below)),
	]);
}

/** https://hl7.org/fhir/R4/valueset-operation-validate-code.html */
export function validateInValueSet(terminology: Terminology, parameters: TermParameters): JsonObject {
	const url = canonical(parameters, required(parameters, 'url'), 'valueSetVersion');
	valueSetOf(terminology, url);
	const code = required(parameters, 'code');
	const system = parameters.get('system');
	const result = terminology.member(url, system, code);
	if (result === undefined) throw new Failure('unprocessable', `whether the value set ${shown(url)} has the code is not known here`);
	return verdict(result, 'the value set has no such code', displayOf(terminology, system, code), parameters.get('display'));
}

/** https://hl7.org/fhir/R4/codesystem-operation-validate-code.html */
export function validateInCodeSystem(terminology: Terminology, parameters: TermParameters): JsonObject {
	const url = parameters.get('system') ?? required(parameters, 'url');
	const index = codeSystemOf(terminology, canonical(parameters, url, 'version'));
	const found = index.find(required(parameters, 'code'));
	if (found === undefined && !index.system.whole) {
		throw new Failure('unprocessable', `the code system ${shown(url)} is known here in part only`);
	}
	return verdict(found !== undefined, 'the code system has no such code', found?.display, parameters.get('display'));
}

function displayOf(terminology: Terminology, system: string | undefined, code: string): string | undefined {
	return system === undefined ? undefined : terminology.codeSystem(system)?.find(code)?.display;
}

/** A display that is not that of the code makes the answer false, as R4 has it. */
function verdict(isMember: boolean, otherwise: string, display: string | undefined, stated: string | undefined): JsonObject {
	const isOther = isMember && stated !== undefined && display !== undefined && stated.toLowerCase() !== display.toLowerCase();
	const message = !isMember ? otherwise : isOther ? 'the code has another display' : undefined;
	return parametersOf([
		{ name: 'result', valueBoolean: isMember && !isOther },
		...(message === undefined ? [] : [{ name: 'message', valueString: message }]),
		...(isMember && display !== undefined ? [{ name: 'display', valueString: display }] : []),
	]);
}

function parametersOf(parameter: JsonObject[]): JsonObject {
	return { resourceType: 'Parameters', parameter };
}
