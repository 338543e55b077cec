import { nilIdSql, type Statement } from '../../statement.ts';

/** Notes in the audit trail that a backup was made or restored, and by whom. The actor is the same for all, by which they are found. An earlier schema takes it as well. */
export const noteBackup: Statement = {
	name: 'note_backup',
	text: `
insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail)
values ($1, now(), ${nilIdSql}, 'backup', $2, $3, $4, $5)`,
};

/** The seconds since the cut of the last backup that is finished; no row where there is none. The index of actors finds it. */
export const lastBackup: Statement = {
	name: 'last_backup',
	text: `
select extract(epoch from now() - (e.detail ->> 'cut_at')::timestamptz)::bigint
from audit_event e
where e.site_id = ${nilIdSql} and e.actor = 'backup' and e.action = 'backup.finish'
order by e.id desc
limit 1`,
};
