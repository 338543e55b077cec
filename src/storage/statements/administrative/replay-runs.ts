import type { Statement } from '../../statement.ts';

/** A run that reads times anew has met this so far; a run that has ended has the sums. */
const met = (isChanged: boolean) => `(
	select jsonb_object_agg(k.resource_type, k.count) from (
		select x.resource_type, count(*) as count from rederived_resource x
		where x.site_id = r.site_id and x.run_id = r.id and x.is_changed = ${isChanged}
		group by x.resource_type) k)`;

const columns = `
	r.id, s.slug as site, r.actor, r.kind, r.cause, r.task, r.progress || jsonb_strip_nulls(jsonb_build_object(
		'changed', coalesce(r.progress -> 'changed', ${met(true)}), 'stayed', coalesce(r.progress -> 'stayed', ${met(false)}))) as progress,
	coalesce((r.progress ->> 'total')::integer, cardinality(r.message_ids)) as total, r.state, r.done, r.accepted, r.refused, r.other, r.ignored, r.known, r.skipped,
	r.failure, r.started_at, r.finished_at, r.dismissed_at`;

/** Returns nothing when another run of the site is under way. */
export const insertRun: Statement = {
	name: 'insert_replay_run',
	text: `
insert into replay_run (site_id, id, actor, cause, message_ids, state, kind, task, progress)
values ($1, $2, $3, $4::jsonb, $5::uuid[], 'running', $6, $7::jsonb, $8::jsonb)
on conflict (site_id) where state = 'running' do nothing
returning attempt`,
};

/**
 * Takes up the runs of nodes that have been silent for a minute. What a release before 0.3 ended as interrupted stays so, unless it reads times
 * anew. The other runs of their sites have to wait.
 */
export const takeUpRuns: Statement = {
	name: 'take_up_runs',
	text: `
update replay_run r set seen_at = now(), state = 'running', finished_at = null, attempt = r.attempt + 1
where ((r.state = 'running' and r.seen_at < now() - interval '1 minute') or (r.kind = 'rederivation' and r.state = 'interrupted'))
	and not exists (select from replay_run o where o.site_id = r.site_id and o.state = 'running' and o.id <> r.id)
returning r.site_id, r.id, r.attempt, r.actor, r.kind, r.message_ids, r.done, r.accepted, r.refused, r.ignored, r.known, r.skipped, r.task, r.progress,
	r.started_at`,
};

/** Lets another node take a run up at once. */
export const releaseRun: Statement = {
	name: 'release_run',
	text: `update replay_run set seen_at = '-infinity' where site_id = $1 and id = $2 and attempt = $3 and state = 'running'`,
};

/** Says that the node is there. Returns nothing when the run must no longer be carried out. */
export const keepRun: Statement = {
	name: 'keep_run',
	text: `update replay_run set seen_at = now() where site_id = $1 and id = $2 and attempt = $3 and state = 'running' returning id`,
};

/** Lists the run of a site that is under way. */
export const runningRun: Statement = {
	name: 'running_replay_run',
	text: `select id from replay_run where site_id = $1 and state = 'running'`,
};

/** Returns nothing when the run must no longer be carried out. */
export const advanceRun: Statement = {
	name: 'advance_replay_run',
	text: `
update replay_run set done = $3, accepted = $4, refused = $5, other = $6, skipped = $7, ignored = $8, known = $9, seen_at = now()
where site_id = $1 and id = $2 and attempt = $10 and state = 'running'
returning id`,
};

/** `$5`: the attempt that ends, or null for whichever is under way. */
export const finishRun: Statement = {
	name: 'finish_replay_run',
	text: `
update replay_run set state = $3, failure = $4, seen_at = now(), finished_at = now()
where site_id = $1 and id = $2 and ($5::integer is null or attempt = $5) and state = 'running'
returning id`,
};

/** Puts away a run that has ended. */
export const dismissRun: Statement = {
	name: 'dismiss_replay_run',
	text: `
update replay_run set dismissed_at = coalesce(dismissed_at, now())
where site_id = $1 and id = $2 and state <> 'running'
returning id`,
};

export const showRun: Statement = {
	name: 'show_replay_run',
	text: `
select ${columns}, r.site_id
from site s join lateral (select * from replay_run o where o.site_id = s.id and o.id = $1::uuid offset 0) r on true`,
};

/** Lists the newest run of each site, newest first. `$1`: slugs, or null for all. */
export const listRuns: Statement = {
	name: 'list_replay_runs',
	text: `
select k.* from site s cross join lateral (
	select ${columns} from replay_run r
	where r.site_id = s.id and ($2::uuid is null or r.id < $2) and ($4::boolean or r.dismissed_at is null)
	order by r.id desc
	limit $3::integer
) k
where $1::text[] is null or s.slug = any ($1)
order by k.id desc
limit $3::integer`,
};
