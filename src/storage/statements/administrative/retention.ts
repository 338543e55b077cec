import { nilIdSql, type Statement } from '../../statement.ts';

/**
 * Retention, table by table. `$1` is one site; the moment before which rows go follows as `$2`, the number of rows of one transaction as `$3`.
 * Counting tells rows, bytes and the time of the oldest row. Whoever removes begins its transaction with `beginBatch`.
 */

/** The least id of a moment: ids are UUIDs of version 7. */
const leastId = (moment: string) =>
	`rpad(lpad(to_hex((extract(epoch from ${moment}::timestamptz) * 1000)::bigint), 12, '0'), 32, '0')::uuid`;
/** A hold that was placed while a run is under way holds from its commit on. */
const noHold = 'not exists (select from legal_hold h where h.site_id = $1::uuid and h.lifted_at is null)';

/** Lists sites with their settings, the number of their holds, and whether they move or were moved. `$1` has their ids, or is null for all. */
export const keptSites: Statement = {
	name: 'kept_sites',
	text: `
select s.id, s.slug, s.settings, (select count(*)::integer from legal_hold h where h.site_id = s.id and h.lifted_at is null) as holds,
	s.move_state is not null as moves
from site s
where $1::uuid[] is null or s.id = any ($1::uuid[])
order by s.slug`,
};

interface Counted {
	count: Statement;
	/** Each removes one batch, and is repeated until it removes nothing. */
	remove: readonly Statement[];
}

const messages: Counted = {
	count: {
		name: 'count_old_messages',
		text: `
select count(*)::text as rows, coalesce(sum(pg_column_size(m.bytes) + pg_column_size(m.ack) + coalesce(pg_column_size(m.changed), 0) + 250), 0)::text as bytes,
	min(m.received_at) as oldest
from message_log m where m.site_id = $1::uuid and m.id < ${leastId('$2')}`,
	},
	remove: [
		{
			name: 'remove_old_messages',
			text: `
delete from message_log m
where m.site_id = $1::uuid and m.id < ${leastId('$2')} and ${noHold} and m.id <= (
	select o.id from (
		select l.id from message_log l where l.site_id = $1::uuid and l.id < ${leastId('$2')} order by l.id limit $3
	) o order by o.id desc limit 1)`,
		},
		...['set_aside_message', 'edited_message'].map((table) => ({
			name: `remove_old_${table}s`,
			text: `
delete from ${table} m
where m.site_id = $1::uuid and m.message_id < ${leastId('$2')} and ${noHold} and m.message_id <= (
	select o.message_id from (
		select l.message_id from ${table} l where l.site_id = $1::uuid and l.message_id < ${leastId('$2')} order by l.message_id limit $3
	) o order by o.message_id desc limit 1)`,
		})),
	],
};

/** The types that have earlier versions; one look-up in the index for each. */
const typesWithHistory = `
with recursive t (type) as (
	(select h.resource_type from resource_history h where h.site_id = $1::uuid order by h.resource_type limit 1)
	union all
	select (select h.resource_type from resource_history h where h.site_id = $1::uuid and h.resource_type > t.type order by h.resource_type limit 1)
	from t where t.type is not null
)`;

const history: Counted = {
	count: {
		name: 'count_old_versions',
		text: `
${typesWithHistory}
select coalesce(sum(c.rows), 0)::text as rows, coalesce(sum(c.bytes), 0)::text as bytes, min(c.oldest) as oldest
from t cross join lateral (
	select count(*) as rows, sum(pg_column_size(h.resource) + 120) as bytes, min(h.last_updated) as oldest
	from resource_history h where h.site_id = $1::uuid and h.resource_type = t.type and h.last_updated < $2::timestamptz
) c
where t.type is not null`,
	},
	remove: [
		{
			name: 'remove_old_versions',
			text: `
${typesWithHistory}, old as (
	select o.*
	from t cross join lateral (
		select h.resource_type, h.id, h.version, h.last_updated from resource_history h
		where h.site_id = $1::uuid and h.resource_type = t.type and h.last_updated < $2::timestamptz
		order by h.last_updated, h.id limit $3
	) o
	where t.type is not null
	limit $3
)
delete from resource_history h using old o
where h.site_id = $1::uuid and h.resource_type = o.resource_type and h.id = o.id and h.version = o.version and h.last_updated = o.last_updated
	and ${noHold}`,
		},
	],
};

const accepted: Counted = {
	count: {
		name: 'count_old_accepted_messages',
		text: `
select count(*)::text as rows, (count(*) * 200)::text as bytes, min(a.accepted_at) as oldest
from accepted_message a where a.site_id = $1::uuid and a.accepted_at < $2::timestamptz`,
	},
	remove: [
		{
			name: 'remove_old_accepted_messages',
			text: `
delete from accepted_message a using (
	select l.client_id, l.control_id, l.digest from accepted_message l
	where l.site_id = $1::uuid and l.accepted_at < $2::timestamptz limit $3
) o
where a.site_id = $1::uuid and a.client_id = o.client_id and a.control_id = o.control_id and a.digest = o.digest`,
		},
	],
};

/** A message that was meant for one site has its id. The nil id stands for messages that were meant for none. */
const ofUnmatched = `m.site_id is not distinct from nullif($1::uuid, ${nilIdSql})`;
const unmatched: Counted = {
	count: {
		name: 'count_old_unmatched_messages',
		text: `
select count(*)::text as rows, coalesce(sum(pg_column_size(m.bytes) + 150), 0)::text as bytes, min(m.received_at) as oldest
from unmatched_message m where ${ofUnmatched} and m.id < ${leastId('$2')}`,
	},
	remove: [
		{
			name: 'remove_old_unmatched_messages',
			text: `
delete from unmatched_message d using (
	select m.id from unmatched_message m where ${ofUnmatched} and m.id < ${leastId('$2')} order by m.id limit $3
) o
where d.id = o.id and ${noHold}`,
		},
	],
};

const jobs: Counted = {
	count: {
		name: 'count_old_runs',
		text: `
select count(*)::text as rows, coalesce(sum(pg_column_size(r.message_ids) + 300), 0)::text as bytes, min(r.finished_at) as oldest
from replay_run r where r.site_id = $1::uuid and r.finished_at < $2::timestamptz`,
	},
	remove: [
		{
			name: 'remove_old_runs',
			text: `
delete from replay_run r using (
	select l.id from replay_run l where l.site_id = $1::uuid and l.finished_at < $2::timestamptz limit $3
) o
where r.site_id = $1::uuid and r.id = o.id`,
		},
		{
			name: 'remove_resources_of_old_runs',
			text: `
delete from rederived_resource d using (
	select l.run_id, l.resource_type, l.id from rederived_resource l
	where l.site_id = $1::uuid and l.run_id < ${leastId('$2')}
		and not exists (select from replay_run r where r.site_id = $1::uuid and r.id = l.run_id)
	limit $3
) o
where d.site_id = $1::uuid and d.run_id = o.run_id and d.resource_type = o.resource_type and d.id = o.id`,
		},
	],
};

const feeds: Counted = {
	count: {
		name: 'count_old_feed_hours',
		text: `
select count(*)::text as rows, (count(*) * 400)::text as bytes, min(f.hour) as oldest
from feed_hour f where f.site_id = $1::uuid and f.hour < $2::timestamptz`,
	},
	remove: [
		{
			name: 'remove_old_feed_hours',
			text: `
delete from feed_hour f using (
	select l.feed, l.hour from feed_hour l where l.site_id = $1::uuid and l.hour < $2::timestamptz order by l.hour limit $3
) o
where f.site_id = $1::uuid and f.feed = o.feed and f.hour = o.hour`,
		},
	],
};

/** Rows that are kept for some time. Studies are not among them, because their objects go with them. */
export const keptRows = { messages, history, accepted, unmatched, jobs, feeds } as const satisfies Readonly<Record<string, Counted>>;

/** Whoever places a hold waits for the transaction that deletes, and the next one sees the hold: so it holds once it is committed. */
export const keepHolds = 'lock table legal_hold in share mode';

/** Finds a site that does not move. Its move cannot begin while the transaction lasts, so what it copies is what is left. */
export const keepFromMoving: Statement = {
	name: 'keep_from_moving',
	text: 'select 1 from site s where s.id = $1::uuid and s.move_state is null for share',
};

/** No site begins to move, or to arrive, while the transaction lasts. */
export const keepMoves = 'lock table site in share mode';

/**
 * Lets a batch walk an index from its oldest row, whatever the planner believes of the table. Only accepted messages are found by a BRIN index,
 * which has no other scan than one by bitmap.
 */
export function beginBatch(kept: keyof typeof keptRows): string {
	const settings = ["lock_timeout = '2s'", 'enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off'];
	if (kept !== 'accepted') settings.push('enable_bitmapscan = off');
	return [...settings.map((setting) => `set local ${setting}`), keepHolds].join('; ');
}

/** The tables of which whole months can go. */
export const monthlyTables = { messages: 'message_log', history: 'resource_history' } as const;

/** Lists the months of a table that are over by a moment, oldest first. The functions are defined in migration `retention`. */
export const monthsBefore: Statement = {
	name: 'months_before',
	text: 'select name, until from months_before($1, $2::timestamptz)',
};

/** Drops a month, unless a site that keeps it, or that moves, has a row there. */
export const removeMonth: Statement = {
	name: 'remove_month',
	text: 'select remove_month($1, $2, $3::uuid[] || array(select s.id from site s where s.move_state is not null)) as rows',
};
