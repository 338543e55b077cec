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
	/** The id of the last event of the page before. */
	after?: string | undefined;
	count: number;
}

/** This many patients and studies of an event are shown. */
const namedMax = 500;

/** Builds the statement that reads a page of the trail of the site `$1`, newest first. A text for each set of filters has a plan of its own. */
export function siteTrail(siteId: string, filters: TrailFilters): { statement: Statement; values: unknown[] } {
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
	add('after', filters.after, (value) => `e.id < ${value}::uuid`);
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
order by e.id desc
limit $${values.length}`;
	return { statement: { name: `site_trail_${names.join('_')}`, text }, values };
}
