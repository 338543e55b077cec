import { Failure } from '#core/failure.ts';
import { type SearchEntry, searchset } from '#fhir/bundle.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import type { ParsedSearch } from '#fhir/search/parsed-search.ts';
import { inclusionParameters } from '#fhir/search/result.ts';
import { shaped } from '#fhir/shape.ts';
import type { PagePosition } from '#record/search-plan.ts';
import { countResources, searchResources } from '#storage/search.ts';
import { presentTypes } from '#storage/system-history.ts';
import type { HttpAnswer } from '../http/message.ts';
import { isLenient } from './negotiation.ts';
import { searchOptions } from './search-options.ts';
import { type OnSystem, searchedTypes } from './system.ts';

/** The place of this search among the paged lists of a site; no type has this name. */
const path = '';

/** One type of the search. */
interface Part {
	definition: ResourceDefinition;
	parsed: ParsedSearch;
}

/** A page ends within a type, or before the first match of one. */
interface Position {
	type: string;
	after: PagePosition | undefined;
}

/**
 * Searches all types, or those of `_type`, by the parameters that they have in common (https://hl7.org/fhir/R4/http.html#search). The matches come
 * type by type, in the order of ids: each type is searched by its own indexes, and a page begins where the one before it ended.
 */
export async function searchSystem({ context, request, grant, mediaType, base, query }: OnSystem): Promise<HttpAnswer> {
	const { reader, cursors, longSearches } = context;
	const { siteId, scopes } = grant;
	const parameters = await longSearches.parametersOf({ siteId, of: path }, query);
	const { named, rest } = split(parameters);
	const options = await searchOptions({ context, grant, base }, rest, isLenient(request));
	const parts = searchedTypes(scopes, named).map((definition): Part => ({ definition, parsed: parseSearch(definition, rest, options) }));
	const [first] = parts;
	if (first === undefined) throw new Error('a search of the system has types');
	const { cursor, counting, total: isTotalWanted, plan } = first.parsed;
	const applied: [string, string][] = [
		...(named.length === 0 ? [] : [['_type', named.join(',')] as [string, string]]),
		...first.parsed.applied,
	];
	const scope = { siteId, of: path, applied };
	const start = cursor === undefined ? undefined : positionOf(cursors.open(scope, cursor));
	const present = await withResources(context, siteId, parts);
	const [{ entries, next }, counted] = await Promise.all([
		counting ? nothing : pageOf(context, siteId, from(present, start), { start, count: plan.count }),
		counting || isTotalWanted ? countAll(reader, siteId, present) : undefined,
	]);
	const total = counted ?? (cursor === undefined && next === undefined ? entries.length : undefined);
	const further = next && [cursors.seal(scope, [next.type, next.after?.id ?? null, ...(next.after?.keys ?? [])])];
	const [self = '', nextLink] = await longSearches.links(scope, base, applied, [cursor, ...(further ?? [])]);
	return { status: 200, headers: { 'Content-Type': mediaType }, body: searchset({ base, entries, total, self, next: nextLink }) };
}

/** Separates `_type` from the parameters of each type. @throws Failure for what cannot be asked of several types at once */
function split(query: string): { named: string[]; rest: string } {
	const all = [...new URLSearchParams(query)];
	const named = all.filter(([name]) => name === '_type').flatMap(([, value]) => value.split(',').filter((type) => type !== ''));
	for (const [name] of all) {
		if (name !== '_sort' && !Object.hasOwn(inclusionParameters, name)) continue;
		throw new Failure('not-supported', `${name} is for the search of one type: <type>?${name}=…`, { location: { expression: name } });
	}
	return { named: [...new Set(named)], rest: new URLSearchParams(all.filter(([name]) => name !== '_type')).toString() };
}

/** Of the types that share a table, only those of which the site has resources are searched. */
async function withResources({ reader }: OnSystem['context'], siteId: string, parts: readonly Part[]): Promise<Part[]> {
	const shared = parts.filter(({ definition }) => definition.table.isShared).map(({ definition }) => definition.type);
	const present = await presentTypes(reader, siteId, shared);
	return parts.filter(({ definition }) => !definition.table.isShared || present.has(definition.type));
}

/** The parts from the position on. Its own type may have lost its last resource meanwhile. */
function from(parts: readonly Part[], start: Position | undefined): Part[] {
	if (start === undefined) return [...parts];
	const order = searchedTypes(undefined, []).map(({ type }): string => type);
	const place = order.indexOf(start.type);
	return parts.filter(({ definition }) => order.indexOf(definition.type) >= place);
}

interface SystemPage {
	entries: SearchEntry[];
	next: Position | undefined;
}

const nothing: SystemPage = { entries: [], next: undefined };

async function pageOf(
	{ reader, limits }: OnSystem['context'],
	siteId: string,
	parts: readonly Part[],
	{ start, count }: { start: Position | undefined; count: number },
): Promise<SystemPage> {
	const entries: SearchEntry[] = [];
	let bytes = 0;
	for (const { definition, parsed } of parts) {
		const { type } = definition;
		const after = start?.type === type ? start.after : undefined;
		const isFull = entries.length >= count || bytes >= limits.searchBytesMax;
		// A full page needs to know only if there is more.
		const wanted = isFull ? 1 : count - entries.length;
		const room = isFull ? 1 : limits.searchBytesMax - bytes;
		const page = await searchResources(reader, siteId, { ...parsed.plan, count: wanted, after }, room);
		if (isFull && page.rows.length > 0) return { entries, next: { type, after } };
		for (const stored of page.rows) {
			bytes += stored.text.length;
			entries.push({ type, stored: parsed.shape === undefined ? stored : shaped(definition, stored, parsed.shape), mode: 'match' });
		}
		if (page.next !== undefined) return { entries, next: { type, after: page.next } };
	}
	return { entries, next: undefined };
}

async function countAll(reader: OnSystem['context']['reader'], siteId: string, parts: readonly Part[]): Promise<number> {
	const counts = await Promise.all(parts.map(({ parsed }) => countResources(reader, siteId, { ...parsed.plan, after: undefined })));
	return counts.reduce((sum, count) => sum + count, 0);
}

function positionOf([type, id, ...keys]: (string | null)[]): Position {
	return { type: type ?? '', after: id === null || id === undefined ? undefined : { id, keys } };
}
