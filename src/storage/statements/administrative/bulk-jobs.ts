import type { Statement } from '../../statement.ts';

const underWay = `state in ('receiving', 'waiting', 'running')`;
const interrupted = `state = 'interrupted', finished_at = now()`;

/** Marks the jobs that processes of a node left under way when they ended. */
export const interruptJobsOfNode: Statement = {
	name: 'interrupt_bulk_jobs_of_node',
	text: `update bulk_job set ${interrupted} where node_id = any($1::uuid[]) and ${underWay} returning id`,
};

/** Marks the jobs of a node that does not come back: it has not reported progress for `$1` seconds. */
export const interruptSilentJobs: Statement = {
	name: 'interrupt_silent_bulk_jobs',
	text: `update bulk_job set ${interrupted} where ${underWay} and seen_at < now() - make_interval(secs => $1) returning id`,
};

export const deleteOldJobs: Statement = {
	name: 'delete_old_bulk_jobs',
	text: `delete from bulk_job where finished_at < now() - make_interval(secs => $1) returning id`,
};

export const listJobsOfNode: Statement = {
	name: 'list_bulk_jobs_of_node',
	text: `select id from bulk_job where node_id = any($1::uuid[])`,
};

/**
 * The moment up to which the next snapshot has every change: no transaction that writes resources began before it and is still open. Their
 * versions carry the time at which their batch began, by the clock of its node. One second allows for differences between clocks and for a
 * `begin` that is on its way.
 */
export const exportMoment: Statement = {
	name: 'export_moment',
	text: `
select (extract(epoch from least(clock_timestamp(), min(xact_start)) - interval '1 second') * 1000)::bigint
from pg_stat_activity
where datname = current_database() and application_name in ('tributary ingest', 'tributary import')`,
};
