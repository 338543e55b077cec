import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { filesOfPackage } from '#fhir/profiles/package.ts';
import type { UsCoreParameter, UsCoreType } from './us-core-searches.ts';

/**
 * Writes the searches that US Core asks of a server, from the capability statement and the search parameters of its package:
 * `node test/support/generate-us-core-searches.ts <package.tgz>` (hl7.fhir.us.core 6.1.0, CC0).
 */

const marks = 'http://hl7.org/fhir/StructureDefinition/capabilitystatement-';
const asked = new Set(['SHALL', 'SHOULD']);

interface Marked {
	extension?: { url: string; valueCode?: string; valueString?: string; extension?: Marked['extension'] }[];
}

interface Parameter {
	name: string;
	type: UsCoreParameter['type'];
	definition: string;
}

interface Served extends Marked {
	type: string;
	interaction?: (Marked & { code: string })[];
	searchParam?: (Marked & Parameter)[];
	searchInclude?: string[];
	_searchInclude?: Marked[];
	searchRevInclude?: string[];
	_searchRevInclude?: Marked[];
}

interface Definition {
	url: string;
	expression: string;
	_multipleOr?: Marked;
	_multipleAnd?: Marked;
	comparator?: string[];
	_comparator?: Marked[];
}

const expectationOf = (marked: Marked | undefined): string =>
	marked?.extension?.find(({ url }) => url === `${marks}expectation`)?.valueCode ?? '';
const isAsked = (marked: Marked | undefined): boolean => asked.has(expectationOf(marked));
const askedOf = (list: readonly string[] = [], marked: readonly Marked[] = []) => list.filter((_, index) => isAsked(marked[index]));

const [path = ''] = argv.slice(2);
const files = new Map(filesOfPackage(readFileSync(path), 512 * 1024 * 1024).map(({ name, bytes }) => [name, bytes]));
const parsed = (name: string) => JSON.parse(Buffer.from(files.get(name) ?? '').toString('utf8'));
const definitions = new Map<string, Definition>(
	[...files.keys()]
		.filter((name) => name.startsWith('package/SearchParameter-'))
		.map((name) => parsed(name) as Definition)
		.map((definition) => [definition.url, definition]),
);

function parameterOf({ name, type, definition }: Parameter): [string, UsCoreParameter] {
	const stated = definitions.get(definition);
	return [
		name,
		{
			type,
			expression: stated?.expression ?? 'id',
			...(isAsked(stated?._multipleOr) ? { multipleOr: true } : {}),
			...(isAsked(stated?._multipleAnd) ? { multipleAnd: true } : {}),
			comparators: askedOf(stated?.comparator, stated?._comparator),
		},
	];
}

function typeOf(served: Served): UsCoreType {
	const combined = (served.extension ?? [])
		.filter(({ url }) => url === `${marks}search-parameter-combination`)
		.filter(({ extension = [] }) => isAsked({ extension }))
		.map(({ extension = [] }) => extension.filter(({ url }) => url === 'required').map(({ valueString }) => valueString ?? ''));
	const single = (served.searchParam ?? []).filter(isAsked).map(({ name }) => [name]);
	const searches = [...single, ...combined];
	const named = new Set(searches.flat());
	return {
		interactions: (served.interaction ?? []).filter(isAsked).map(({ code }) => code),
		parameters: Object.fromEntries((served.searchParam ?? []).filter(({ name }) => named.has(name)).map(parameterOf)),
		searches,
		includes: askedOf(served.searchInclude, served._searchInclude),
		reverseIncludes: askedOf(served.searchRevInclude, served._searchRevInclude),
	};
}

const { rest } = parsed('package/CapabilityStatement-us-core-server.json') as { rest: { resource: Served[] }[] };
const types = Object.fromEntries((rest[0]?.resource ?? []).map((served) => [served.type, typeOf(served)]));
writeFileSync(join(import.meta.dirname, '../conformance/us-core-searches.json'), `${JSON.stringify(types, undefined, '\t')}\n`);
