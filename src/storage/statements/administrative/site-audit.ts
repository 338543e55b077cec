import { type Statement, textArray } from '../../statement.ts';
import { namedPatients } from './list-audit.ts';

/** Filters of the audit trail of one site. */
export interface TrailFilters {
	ids?: readonly string[] | undefined;
	/** Row ids. */
	patients?: readonly string[] | undefined;
	actors?: readonly string[] | undefined;
	subjects?: readonly string[] | undefined;
	sources?: readonly string[] | undefined;
	actions?: readonly string[] | undefined;
	/** Verbs of actions; `not` stands for all but these. */
	verbs?: { not: boolean; of: readonly string[] } | undefined;
	/** Instants. */
	since?: string | undefined;
	before?: string | undefined;
	/** Starts and ends of several times, from an instant to before another. */
	spans?: readonly (readonly [start: string, end: string])[] | undefined;
	/** Events are in the order of their time, instead of the newest first. */
	oldestFirst?: boolean;
	/** The id of the last event of the page before. */
	after?: string | undefined;
	count: number;
}

/** This many patients and studies of an event are shown. */
const namedMax = 500;

/** Builds the statement that reads a page of the trail of the site `$1`, newest first. A text for each set of filters has a plan of its own. */
export function siteTrail(siteId: string, filters: TrailFilters): { statement: Statement; values: unknown[] } {
	const { values, names, clauses } = filtered(siteId, filters);
	const [order, follows] = filters.oldestFirst ? ['asc', '>'] : ['desc', '<'];
	if (filters.oldestFirst) names.push('oldest_first');
	if (filters.after !== undefined) {
		values.push(filters.after);
		names.push('after');
		clauses.push(` and e.id ${follows} $${values.length}::uuid`);
	}
	values.push(String(filters.count));
	const text = `
select e.id, to_char(e.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as recorded, e.actor,
	case split_part(e.actor, ':', 1)
		when 'key' then (select u.email from api_key k join app_user u on u.id = k.owner_id where k.site_id = $1 and k.id = substr(e.actor, 5))
		when 'client' then (select c.name from integration_client c where c.site_id = $1 and c.id::text = substr(e.actor, 8))
	end as holder,
	e.action, e.subject, e.source, e.detail::text as detail,
	array_to_json(${namedPatients('e', namedMax)})::text as patients,
	array_to_json(coalesce(e.studies[1:${namedMax}], '{}'))::text as studies
from audit_event e
where e.site_id = $1${clauses.join('')}
order by e.id ${order}
limit $${values.length}`;
	return { statement: { name: `site_trail_${names.join('_')}`, text }, values };
}

/** Builds the statement that counts the events of the trail of the site `$1`. */
export function countTrail(siteId: string, filters: Omit<TrailFilters, 'count'>): { statement: Statement; values: unknown[] } {
	const { values, names, clauses } = filtered(siteId, filters);
	const text = `select count(*)::text from audit_event e where e.site_id = $1${clauses.join('')}`;
	return { statement: { name: `count_trail_${names.join('_')}`, text }, values };
}

/** Returns the clauses of the filters with their values, and their names for that of the statement. */
function filtered(siteId: string, filters: Omit<TrailFilters, 'count'>): { values: unknown[]; names: string[]; clauses: string[] } {
	const values: unknown[] = [siteId];
	const names: string[] = [];
	const clauses: string[] = [];
	const add = (name: string, value: string | readonly string[] | undefined, clause: (parameter: string) => string) => {
		if (value === undefined) return;
		values.push(typeof value === 'string' ? value : textArray(value).toPostgres());
		names.push(name);
		clauses.push(` and ${clause(`$${values.length}`)}`);
	};
	add('ids', filters.ids, (value) => `e.id = any (${value}::uuid[])`);
	add('patients', filters.patients, (value) => `e.patients && ${value}::uuid[]`);
	add('actors', filters.actors, (value) => `e.actor = any (${value}::text[])`);
	add('subjects', filters.subjects, (value) => `e.subject = any (${value}::text[])`);
	add('sources', filters.sources, (value) => `e.source = any (${value}::text[])`);
	add('actions', filters.actions, (value) => `e.action = any (${value}::text[])`);
	const verb = `substr(e.action, strpos(e.action, '.') + 1)`;
	add(`verbs_${filters.verbs?.not}`, filters.verbs?.of, (value) => `${filters.verbs?.not ? 'not ' : ''}${verb} = any (${value}::text[])`);
	add('since', filters.since, (value) => `e.recorded_at >= ${value}::timestamptz`);
	add('before', filters.before, (value) => `e.recorded_at < ${value}::timestamptz`);
	if (filters.spans !== undefined) {
		values.push(...[0, 1].map((side) => textArray((filters.spans ?? []).map((span) => span[side] ?? '')).toPostgres()));
		const [start, end] = [`$${values.length - 1}`, `$${values.length}`];
		names.push('spans');
		clauses.push(
			` and exists (select from unnest(${start}::timestamptz[], ${end}::timestamptz[]) as span (start_at, end_at)
	where e.recorded_at >= span.start_at and e.recorded_at < span.end_at)`,
		);
	}
	return { values, names, clauses };
}
