import { Migration } from '@mikro-orm/migrations';

/**
 * An edit that empties a study keeps its row, so that undoing it brings back the same study. A procedure step of several studies is found
 * by each of them.
 *
 * Locks: study_edit and mpps_session for a moment; mpps_session is read once, some seconds for a million steps, while reports wait. The
 * further studies of stored steps are read from their attributes. The rows of studies that earlier edits emptied are not known.
 */
export class StudyEdits extends Migration {
	override up(): void {
		this.addSql('alter table study_edit add column study jsonb;');
		this.addSql(steps);
	}
}

const steps = `
alter table mpps_session
	-- Further studies of the scheduled steps that were performed as one (group case). Null: there is one study.
	add column other_study_uids text[];
update mpps_session m set other_study_uids = o.uids
from (
	select s.site_id, s.id, array_agg(distinct u.value #>> '{}') as uids
	from mpps_session s
	cross join lateral jsonb_path_query(s.attributes::jsonb, '$."00400270".Value[*]."0020000D".Value[*]') u (value)
	where s.attributes like '%"00400270"%' and s.attributes not like '%\\\\u0000%' and u.value #>> '{}' <> s.study_uid
	group by s.site_id, s.id
) o
where o.site_id = m.site_id and o.id = m.id;
create index mpps_session_other_studies on mpps_session (site_id, id) where other_study_uids is not null;
`;
