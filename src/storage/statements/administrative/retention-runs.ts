import type { Statement } from '../../statement.ts';

/** A run that has not said for so long that it works has ended with its process. */
const silent = "interval '5 minutes'";

export const endSilentRun: Statement = {
	name: 'end_silent_retention_run',
	text: `
update retention_run set state = 'interrupted', finished_at = now(), failure = 'the process that carried it out has ended'
where state = 'running' and seen_at < now() - ${silent}`,
};

/**
 * Begins a run. Returns nothing while another one is under way anywhere in the network, and nothing if one began later than `$3` seconds ago.
 * One that failed is tried again after an hour, and an interrupted one at once.
 */
export const beginRun: Statement = {
	name: 'begin_retention_run',
	text: `
insert into retention_run (id, asked_by, state)
select $1::uuid, $2, 'running'
where not exists (
	select from retention_run r
	where r.started_at > now() - make_interval(
		secs => case r.state when 'failed' then least($3::double precision, 3600) when 'interrupted' then 0 else $3::double precision end))
on conflict (state) where state = 'running' do nothing
returning id`,
};

/** Returns nothing if the run was given up by others, who believed that its process had ended. */
export const seeRun: Statement = {
	name: 'see_retention_run',
	text: "update retention_run set seen_at = now() where id = $1::uuid and state = 'running' returning id",
};

export const finishRun: Statement = {
	name: 'finish_retention_run',
	text: `
update retention_run set state = $4, finished_at = now(), seen_at = now(),
	removed = $2::jsonb, failure = $3::text
where id = $1::uuid and state = 'running'`,
};

/** The list of runs itself does not grow for ever. */
export const dropOldRuns: Statement = {
	name: 'drop_old_retention_runs',
	text: "delete from retention_run where started_at < now() - interval '400 days'",
};

export const listRuns: Statement = {
	name: 'list_retention_runs',
	text: `
select id, asked_by, state, started_at, finished_at, removed, failure
from retention_run
where $1::uuid is null or id < $1::uuid
order by id desc
limit $2`,
};

/** Tells whether the latest run that ended failed, and how long ago the latest one succeeded. */
export const runHealth: Statement = {
	name: 'retention_run_health',
	text: `
select (select state = 'failed' from retention_run where state in ('done', 'failed') order by started_at desc limit 1) as failing,
	(select extract(epoch from now() - finished_at) from retention_run where state = 'done' order by started_at desc limit 1) as age`,
};
