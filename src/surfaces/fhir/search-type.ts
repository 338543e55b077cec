import { Failure } from '#core/failure.ts';
import { searchset } from '#fhir/bundle.ts';
import { type CompartmentName, compartmentClause, compartments } from '#fhir/compartment.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { countResources, type FoundPage, searchResources } from '#storage/search.ts';
import type { HttpAnswer } from '../http/message.ts';
import { searchTrail } from './audit-events.ts';
import type { Interacting } from './context.ts';
import { formOf } from './form.ts';
import { entriesOf, noticeOf } from './included.ts';
import { isLenient } from './negotiation.ts';
import { searchOptions } from './search-options.ts';

/** https://hl7.org/fhir/R4/http.html#search, by GET. */
export function searchType(on: Interacting): Promise<HttpAnswer> {
	return searchWithTrail(on, on.request.query);
}

/** The events of the audit trail come before the AuditEvents that clients have written. */
async function searchWithTrail(on: Interacting, query: string): Promise<HttpAnswer> {
	if (on.definition.type !== 'AuditEvent') return search(on, query);
	const trail = await searchTrail(on, query);
	return trail.answer ?? search(on, trail.query);
}

/** Searches by POST. Parameters in the URL and in the form are equivalent. The links of the answer work with GET. */
export async function searchByForm(on: Interacting): Promise<HttpAnswer> {
	const parts = [on.request.query, formOf(on.request)].filter((part) => part !== '');
	return searchWithTrail(on, parts.join('&'));
}

/** https://hl7.org/fhir/R4/http.html#vsearch: a search in the compartment of a patient or visit, by GET. */
export function searchCompartment(on: Interacting): Promise<HttpAnswer> {
	return search(on, on.request.query, compartmentOf(on));
}

export function searchCompartmentByForm(on: Interacting): Promise<HttpAnswer> {
	return search(on, [on.request.query, formOf(on.request)].filter((part) => part !== '').join('&'), compartmentOf(on));
}

/** The compartment in which a search stays. */
interface Within {
	compartment: CompartmentName;
	id: string;
}

function compartmentOf({ request }: Interacting): Within {
	const { compartment: name, id = '' } = request.params;
	const compartment = compartments.find((one) => one === name);
	if (compartment === undefined) throw new Failure('unsupported-resource-type', 'only Patient and Encounter have compartments here');
	return { compartment, id };
}

async function search(
	{ context, request, grant, definition, mediaType, base }: Interacting,
	query: string,
	within?: Within,
): Promise<HttpAnswer> {
	const { reader, limits, cursors, longSearches } = context;
	const { siteId } = grant;
	const { type } = definition;
	const path = within === undefined ? type : `${within.compartment}/${within.id}/${type}`;
	const parameters = await longSearches.parametersOf({ siteId, of: path }, query);
	const options = await searchOptions({ context, grant, base }, parameters, isLenient(request));
	const parsed = parseSearch(definition, parameters, options);
	if (within !== undefined) parsed.plan.clauses.push(compartmentClause(within.compartment, within.id, definition, options));
	const { applied, cursor, counting } = parsed;
	const scope = { siteId, of: path, applied };
	const plan = { ...parsed.plan, after: cursor === undefined ? undefined : positionOf(cursors.open(scope, cursor)) };
	const [page, counted] = await Promise.all([
		counting ? nothing : searchResources(reader, siteId, plan, limits.searchBytesMax),
		counting || parsed.total ? countResources(reader, siteId, plan) : undefined,
	]);
	const { entries, cut, isDeep } = await entriesOf({ context, siteId, parsed, page });
	// A first page that is also the last gives the total without another count.
	const total = counted ?? (cursor === undefined && page.next === undefined ? page.rows.length : undefined);
	const further = page.next && [cursors.seal(scope, [page.next.id, ...page.next.keys])];
	const [self = '', next] = await longSearches.links(scope, base, applied, [cursor, ...(further ?? [])]);
	const outcome = noticeOf({ includesMax: cut ? limits.searchIncludesMax : undefined, isDeep, withheld: parsed.withheld });
	return { status: 200, headers: { 'Content-Type': mediaType }, body: searchset({ base, entries, total, self, next, outcome }) };
}

const nothing: FoundPage = { rows: [], rowIds: [], next: undefined };

function positionOf([id, ...keys]: (string | null)[]): { id: string; keys: (string | null)[] } {
	return { id: id ?? '', keys };
}
