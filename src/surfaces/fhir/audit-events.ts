import { Failure } from '#core/failure.ts';
import { isUuid } from '#core/id.ts';
import { auditEventOf, type TrailEvent, trailCells } from '#fhir/audit-event.ts';
import { warning } from '#fhir/operation-outcome.ts';
import { scopeClause } from '#fhir/scope-clause.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import type { ParsedSearch } from '#fhir/search/parsed-search.ts';
import { inclusionParameters, resultParameters } from '#fhir/search/result.ts';
import { shapedText } from '#fhir/shape.ts';
import { settingOf } from '#record/settings/settings.ts';
import { countResources } from '#storage/search.ts';
import { countTrail, siteTrail, type TrailFilters } from '#storage/statements/administrative/site-audit.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { linkTo } from './links.ts';
import { isLenient } from './negotiation.ts';
import { searchOptions } from './search-options.ts';
import { invalidValue, trailFilters, trailNames } from './trail-filters.ts';

/** With `_trail=false` a search finds what clients have written, and nothing else. */
const trailParameter = '_trail';

/** Tells whether the caller may read the trail: the site lets its keys, and the caller is limited to no part of the type. */
function reaches({ context, grant, definition, base }: Interacting): boolean {
	return (
		settingOf(grant.settings, 'audit_events') && scopeClause(definition, 'r', grant.scopes, { base, limits: context.limits }) === undefined
	);
}

/**
 * Searches the audit trail of the site as AuditEvents, newest first. The page behind the last one has what clients have written.
 * @returns undefined where the search is about those alone; `query` is then without the parameter of this surface
 */
export async function searchTrail(on: Interacting, query: string): Promise<{ answer?: HttpAnswer; query: string }> {
	const parameters = new URLSearchParams(query);
	const wanted = parameters.get(trailParameter);
	parameters.delete(trailParameter);
	const rest = wanted === null ? query : parameters.toString();
	const isOfTrail = parameters.get('_cursor')?.startsWith(trailCursor) ?? true;
	const finds = [...parameters.keys()].every((name) => trailNames.some((own) => own === name) || shapes(name));
	if (wanted === 'false' || !finds || !isOfTrail || !reaches(on)) return { query: rest };
	return { answer: await trailPage(on, parameters), query: rest };
}

/** Tells whether a parameter shapes the answer and finds nothing (FHIR R4 §3.1.1.5). */
function shapes(name: string): boolean {
	return Object.hasOwn(resultParameters, name) || Object.hasOwn(inclusionParameters, name);
}

async function trailPage(on: Interacting, parameters: URLSearchParams): Promise<HttpAnswer> {
	const { mediaType, base, definition } = on;
	const after = parameters.get('_cursor')?.slice(trailCursor.length);
	if (after !== undefined && !isUuid(after)) throw invalidValue('_cursor', 'is no cursor of this search');
	const oldestFirst = isOldestFirst(parameters.get('_sort') ?? '');
	parameters.delete('_cursor');
	const shaping = new URLSearchParams([...parameters].filter(([name]) => shapes(name))).toString();
	const parsed = parseSearch(definition, shaping, await optionsOf(on, shaping));
	const found = [...parameters].filter(([name, value]) => !shapes(name) && value !== '');
	const applied = [...found, ...parsed.applied];
	const filters = trailFilters(parameters);
	const { count } = parsed.plan;
	const isRead = filters !== 'none' && !parsed.counting;
	const [events, total] = await Promise.all([
		isRead ? read(on, { ...filters, after, oldestFirst, count: count + 1 }) : [],
		parsed.counting || parsed.total ? totalOf(on, filters, parameters) : undefined,
	]);
	const path = `${base}/AuditEvent`;
	const last = events.length > count ? events[count - 1] : undefined;
	const next: [string, string] = last === undefined ? [trailParameter, 'false'] : ['_cursor', trailCursor + last.id];
	const entry: object[] = events.slice(0, count).map((event) => entryOf(on, event, parsed));
	if (parsed.inclusions.length + parsed.iterations.length > 0 && entry.length > 0) {
		entry.push({ resource: JSON.parse(warning('events of the audit trail include nothing')), search: { mode: 'outcome' } });
	}
	const links = [
		{ relation: 'self', url: linkTo(path, applied) },
		...(parsed.counting ? [] : [{ relation: 'next', url: linkTo(path, [...applied, next]) }]),
	];
	const bundle = { resourceType: 'Bundle', type: 'searchset', total, link: links, ...(entry.length === 0 ? {} : { entry }) };
	return { status: 200, headers: { 'Content-Type': mediaType }, body: JSON.stringify(bundle) };
}

function entryOf({ base, definition }: Interacting, event: TrailEvent, { shape }: Pick<ParsedSearch, 'shape'>): object {
	const whole = auditEventOf(event);
	const resource = shape === undefined ? whole : JSON.parse(shapedText(definition, JSON.stringify(whole), shape));
	return { fullUrl: `${base}/AuditEvent/${event.id}`, resource, search: { mode: 'match' } };
}

function optionsOf({ context, grant, base, request }: Interacting, query: string) {
	return searchOptions({ context, grant, base }, query, isLenient(request));
}

/** Counts the events of the trail that match, and with them what clients have written: the pages of the search lead to both. */
async function totalOf(on: Interacting, filters: Filters | 'none', parameters: URLSearchParams): Promise<number> {
	const { context, grant, definition } = on;
	const written = new URLSearchParams([...parameters].filter(([name]) => !shapes(name))).toString();
	const { plan } = parseSearch(definition, written, await optionsOf(on, written));
	const counted = filters === 'none' ? undefined : countTrail(grant.siteId, filters);
	const [rows, others] = await Promise.all([
		counted === undefined ? [['0']] : context.reader.run(counted.statement, counted.values),
		countResources(context.reader, grant.siteId, { ...plan, after: undefined }),
	]);
	return Number(rows[0]?.[0]) + others;
}

type Filters = Omit<TrailFilters, 'count'>;

/** Events are in the order of their time. They are sorted by nothing else. */
function isOldestFirst(sort: string): boolean {
	const keys = sort.split(',').filter((key) => key !== '');
	if (!keys.every((key) => /^-?(?:date|_lastUpdated)$/.test(key))) {
		const text = `events of the audit trail are sorted by date alone; with ${trailParameter}=false the search leaves them out`;
		throw new Failure('not-supported', text, { location: { expression: '_sort' } });
	}
	return keys[0]?.startsWith('-') === false;
}

/** Reads an event of the trail; undefined if there is none with this id. */
export async function readTrail(on: Interacting, id: string): Promise<HttpAnswer | undefined> {
	if (!isUuid(id) || !reaches(on)) return undefined;
	const [event] = await read(on, { ids: [id], count: 1 });
	return event && { status: 200, headers: { 'Content-Type': on.mediaType, ETag: 'W/"1"' }, body: JSON.stringify(auditEventOf(event)) };
}

const trailCursor = 'trail-';

async function read({ context, grant }: Interacting, filters: TrailFilters): Promise<TrailEvent[]> {
	const { statement, values } = siteTrail(grant.siteId, filters);
	const rows = await context.reader.run(statement, values);
	return rows.map((cells) => {
		const [id, recorded, actor, holder] = cells;
		return { id: id ?? '', recorded: recorded ?? '', actor: actor ?? '', holder: holder ?? null, ...trailCells(cells) };
	});
}
