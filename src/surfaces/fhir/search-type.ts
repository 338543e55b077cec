import { type SearchEntry, searchset } from '#fhir/bundle.ts';
import { namedRows } from '#fhir/named-rows.ts';
import { warning } from '#fhir/operation-outcome.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import type { ParsedSearch } from '#fhir/search/parsed-search.ts';
import { namesCodes } from '#fhir/search/subsumption.ts';
import { shaped } from '#fhir/shape.ts';
import { countResources, type FoundPage, includedResources, namedResources, searchResources } from '#storage/search.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { formOf } from './form.ts';

/** https://hl7.org/fhir/R4/http.html#search, by GET. */
export function searchType(on: Interacting): Promise<HttpAnswer> {
	return search(on, on.request.query);
}

/** Searches by POST. Parameters in the URL and in the form are equivalent. The links of the answer work with GET. */
export async function searchByForm(on: Interacting): Promise<HttpAnswer> {
	const parts = [on.request.query, formOf(on.request)].filter((part) => part !== '');
	return search(on, parts.join('&'));
}

async function search({ context, request, grant, definition, mediaType, base }: Interacting, query: string): Promise<HttpAnswer> {
	const { reader, limits, cursors, longSearches } = context;
	const { siteId, scopes } = grant;
	const { type } = definition;
	const parameters = await longSearches.parametersOf({ siteId, of: type }, query);
	const lenient = /\bhandling\s*=\s*"?lenient\b/i.test(request.header('prefer') ?? '');
	const terminology = namesCodes(parameters) ? (await context.libraries.of(siteId)).terminology : undefined;
	const parsed = parseSearch(definition, parameters, { limits, lenient, base, scopes, terminology });
	const { applied, cursor, counting } = parsed;
	const scope = { siteId, of: type, applied };
	const plan = { ...parsed.plan, after: cursor === undefined ? undefined : positionOf(cursors.open(scope, cursor)) };
	const [page, counted] = await Promise.all([
		counting ? nothing : searchResources(reader, siteId, plan, limits.searchBytesMax),
		counting || parsed.total ? countResources(reader, siteId, plan) : undefined,
	]);
	const { entries, cut } = await entriesOf({ context, siteId, parsed, page });
	// A first page that is also the last gives the total without another count.
	const total = counted ?? (cursor === undefined && page.next === undefined ? page.rows.length : undefined);
	const further = page.next && [cursors.seal(scope, [page.next.id, ...page.next.keys])];
	const [self = '', next] = await longSearches.links(scope, base, applied, [cursor, ...(further ?? [])]);
	const outcome = outcomeOf(cut ? limits.searchIncludesMax : undefined, parsed.withheld);
	return { status: 200, headers: { 'Content-Type': mediaType }, body: searchset({ base, entries, total, self, next, outcome }) };
}

/** Says what the page does not include although the search asks for it. */
function outcomeOf(includesMax: number | undefined, withheld: readonly string[]): string | undefined {
	const texts = [
		...(includesMax === undefined ? [] : [`the page is limited to ${includesMax} included resources; there are more`]),
		...(withheld.length === 0 ? [] : [`resources are not included, because the access token does not have ${withheld.join(', ')}`]),
	];
	return texts.length === 0 ? undefined : warning(texts.join('; '));
}

const nothing: FoundPage = { rows: [], rowIds: [], next: undefined };

function positionOf([id, ...keys]: (string | null)[]): { id: string; keys: (string | null)[] } {
	return { id: id ?? '', keys };
}

interface Paging {
	context: Interacting['context'];
	siteId: string;
	parsed: ParsedSearch;
	page: FoundPage;
}

/** Returns the matches and the resources that they include. A resource occurs once in a page. */
async function entriesOf({ context, siteId, parsed, page }: Paging): Promise<{ entries: SearchEntry[]; cut: boolean }> {
	const { reader, limits } = context;
	const { resourceType, extent } = parsed.plan;
	const bounds = { rowsMax: limits.searchIncludesMax, bytesMax: limits.searchBytesMax, extent };
	const entries: SearchEntry[] = page.rows.map((stored) => ({ type: resourceType, stored, mode: 'match' }));
	const included = await Promise.all(
		parsed.inclusions.map((inclusion) =>
			inclusion.direction === 'element'
				? namedResources(reader, siteId, inclusion, namedRows(page.rows, inclusion), bounds)
				: includedResources(reader, siteId, inclusion, page.rowIds, bounds),
		),
	);
	const seen = new Set(page.rows.map(({ id }) => `${resourceType}/${id}`));
	let cut = false;
	for (const { type, rows, cut: more } of included) {
		cut ||= more;
		for (const stored of rows) {
			const name = `${type}/${stored.id}`;
			if (seen.has(name)) continue;
			if (entries.length - page.rows.length >= limits.searchIncludesMax) {
				cut = true;
				break;
			}
			seen.add(name);
			entries.push({ type, stored, mode: 'include' });
		}
	}
	const { shape } = parsed;
	if (shape === undefined) return { entries, cut };
	return { entries: entries.map((entry) => ({ ...entry, stored: shapedEntry(entry, shape) })), cut };
}

function shapedEntry({ type, stored }: SearchEntry, shape: NonNullable<ParsedSearch['shape']>): SearchEntry['stored'] {
	const definition = definitionOf(type);
	return definition === undefined ? stored : shaped(definition, stored, shape);
}
