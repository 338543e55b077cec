import type { Statement } from '../../statement.ts';
import { siteSettings } from './settings.ts';

/** Digest, site, study, actor, milliseconds. Forgets those of the site that are over. */
export const beginViewing: Statement = {
	name: 'begin_viewing',
	text: `
with over as (delete from viewer_token where site_id = $2 and expires_at < now())
insert into viewer_token (digest, site_id, study_uid, actor, expires_at)
values ($1, $2, $3, $4, now() + make_interval(secs => $5::float8 / 1000))
returning to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
};

/** A token counts while its time lasts, its site is active, and whoever asked for it may sign in or is the command line. */
export const readViewing: Statement = {
	name: 'read_viewing',
	text: `
select t.site_id, s.slug, ${siteSettings}, t.study_uid, t.actor
from viewer_token t
join site s on s.id = t.site_id and s.active and s.move_state is distinct from 'left'
where t.digest = $1 and t.expires_at > now()
	and (t.actor like 'cli:%' or exists (select from app_user u where u.email = t.actor and u.active))`,
};
