import { dateRange } from '#core/date-range.ts';
import { Failure } from '#core/failure.ts';
import { isUuid } from '#core/id.ts';
import { type ActionCode, auditEventOf, type TrailEvent, trailCells, verbsOfAction } from '#fhir/audit-event.ts';
import { isoInstant } from '#fhir/date.ts';
import { scopeClause } from '#fhir/scope-clause.ts';
import { rowIdOf } from '#record/row-id.ts';
import { settingOf } from '#record/settings/settings.ts';
import { siteTrail, type TrailFilters } from '#storage/statements/administrative/site-audit.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { linkTo } from './links.ts';
import { pageParameters } from './page-parameters.ts';

/** The parameters that find events of the trail. Events have no values of others. */
const names = ['_id', 'patient', 'date', 'agent', 'action', 'entity', 'address', 'subtype', 'source'] as const;

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
	const own = new Set(parameters.keys());
	for (const name of [...names, '_count', '_format', '_pretty', '_cursor']) own.delete(name);
	const isOfTrail = parameters.get('_cursor')?.startsWith(trailCursor) ?? true;
	if (wanted === 'false' || own.size > 0 || !isOfTrail || !reaches(on)) return { query: rest };
	const { context, mediaType, base } = on;
	const page = pageParameters(rest, context.limits, names);
	const after = page.cursor?.slice(trailCursor.length);
	if (after !== undefined && !isUuid(after)) throw invalid('_cursor', 'is no cursor of this search');
	const filters = filtersOf(parameters);
	const events = filters === 'none' ? [] : await read(on, { ...filters, after, count: page.count + 1 });
	const shown = events.slice(0, page.count);
	const path = `${base}/AuditEvent`;
	const last = events.length > page.count ? shown.at(-1) : undefined;
	const next =
		last === undefined
			? linkTo(path, [...page.applied, [trailParameter, 'false']])
			: linkTo(path, [...page.applied, ['_cursor', trailCursor + last.id]]);
	const entry = shown.map((event) => ({ fullUrl: `${path}/${event.id}`, resource: auditEventOf(event), search: { mode: 'match' } }));
	const links = [
		{ relation: 'self', url: linkTo(path, page.applied) },
		{ relation: 'next', url: next },
	];
	const bundle = { resourceType: 'Bundle', type: 'searchset', link: links, ...(entry.length === 0 ? {} : { entry }) };
	return { answer: { status: 200, headers: { 'Content-Type': mediaType }, body: JSON.stringify(bundle) }, query: rest };
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

function filtersOf(parameters: URLSearchParams): Omit<TrailFilters, 'count' | 'after'> | 'none' {
	const listed = (name: string) => (parameters.has(name) ? parameters.getAll(name).flatMap((value) => value.split(',')) : undefined);
	const ids = listed('_id')?.filter(isUuid);
	if (ids?.length === 0) return 'none';
	// Whatever the trail has was observed by this service.
	if (parameters.has('source')) return 'none';
	// Tokens are compared without their systems.
	const tokens = (name: string) => listed(name)?.map((value) => value.replace(/^.*\|/, ''));
	return {
		ids,
		patients: listed('patient')?.map((value) => rowIdOf(value.replace(/^.*Patient\//, ''))),
		actors: tokens('agent'),
		subjects: listed('entity')?.map((value) => value.replace(/^.*\/([A-Z][A-Za-z]+\/[^/]+)$/, '$1')),
		sources: listed('address'),
		actions: tokens('subtype')?.map((code) => (code.includes('.') ? code : `fhir.${code}`)),
		...verbsOf(tokens('action')),
		...timesOf(parameters.getAll('date')),
	};
}

function verbsOf(codes: readonly string[] | undefined): Pick<TrailFilters, 'verbs'> {
	if (codes === undefined) return {};
	const [code = '', ...more] = codes;
	// Any other code is that of no event.
	if (more.length > 0 || !/^[CRUDE]$/.test(code)) return { verbs: { not: false, of: [] } };
	const all = Object.values(verbsOfAction).flat();
	return { verbs: code === 'E' ? { not: true, of: all } : { not: false, of: verbsOfAction[code as Exclude<ActionCode, 'E'>] } };
}

function timesOf(dates: readonly string[]): Pick<TrailFilters, 'since' | 'before'> {
	let sinceMs = Number.NEGATIVE_INFINITY;
	let beforeMs = Number.POSITIVE_INFINITY;
	for (const date of dates) {
		const [, prefix = 'eq', text = ''] = /^(eq|ge|gt|le|lt|sa|eb)?(.*)$/.exec(date) ?? [];
		const range = dateRange(text.replace(' ', '+'));
		if (range === undefined) throw invalid('date', 'is a date or an instant, with eq, ge, gt, le, lt, sa or eb before it');
		if (prefix === 'eq' || prefix === 'ge') sinceMs = Math.max(sinceMs, range.startMs);
		if (prefix === 'gt' || prefix === 'sa') sinceMs = Math.max(sinceMs, range.endMs);
		if (prefix === 'eq' || prefix === 'le') beforeMs = Math.min(beforeMs, range.endMs);
		if (prefix === 'lt' || prefix === 'eb') beforeMs = Math.min(beforeMs, range.startMs);
	}
	const instant = (ms: number) => (Number.isFinite(ms) ? isoInstant(ms) : undefined);
	return { since: instant(sinceMs), before: instant(beforeMs) };
}

function invalid(name: string, fault: string): Failure {
	return new Failure('invalid', `${name} ${fault}`, { location: { expression: name } });
}
