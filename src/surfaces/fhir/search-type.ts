import { searchset } from '#fhir/bundle.ts';
import { cursorParameter, parseSearch } from '#fhir/search/parse.ts';
import { countResources, type FoundPage, searchResources } from '#storage/search.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';

type Parameters = readonly (readonly [string, string])[];

/** https://hl7.org/fhir/R4/http.html#search */
export async function searchType({ context, request, grant, definition, mediaType, base }: Interacting): Promise<HttpAnswer> {
	const { reader, limits } = context;
	const { siteId } = grant;
	const { type } = definition;
	const lenient = /\bhandling\s*=\s*"?lenient\b/i.test(request.header('prefer') ?? '');
	const search = parseSearch(definition, request.query, { limits, lenient, base });
	const { applied, cursor } = search;
	const scope = { siteId, type, applied };
	const plan = { ...search.plan, after: cursor === undefined ? undefined : decodeCursor(scope, cursor) };
	const [page, counted] = await Promise.all([
		search.summary === 'count' ? nothing : searchResources(reader, siteId, plan, limits.searchBytesMax),
		search.summary === 'count' || search.total ? countResources(reader, siteId, plan) : undefined,
	]);
	const last = page.rows.at(-1);
	// A first page that is also the last has been counted for free.
	const total = counted ?? (cursor === undefined && !page.more ? page.rows.length : undefined);
	const link = (parameters: Parameters) => linkTo(`${base}/${type}`, parameters);
	const self = link(cursor === undefined ? applied : [...applied, [cursorParameter, cursor]]);
	const next = page.more && last ? link([...applied, [cursorParameter, encodeCursor(scope, last)]]) : undefined;
	const body = searchset({ type, base, matches: page.rows, total, self, next });
	return { status: 200, headers: { 'Content-Type': mediaType }, body };
}

const nothing: FoundPage = { rows: [], more: false };

function linkTo(path: string, parameters: Parameters): string {
	const query = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString();
	return query === '' ? path : `${path}?${query}`;
}
