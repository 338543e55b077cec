import type { MppsSession, MppsStatus } from '#record/mpps.ts';
import type { Cell } from '../connection.ts';
import type { Statement } from '../statement.ts';

/** Procedure steps by SOP Instance UID, for the reports about them. */
export const findSessions: Statement = {
	name: 'find_sessions',
	text: `
select s.site_id, s.id, s.sop_instance_uid, s.study_uid, s.status, s.attributes, s.late, s.reports, s.last_digest, s.last_message_id, s.updated_at
from unnest($1::uuid[], $2::text[]) as k (site_id, sop_instance_uid)
join mpps_session s on s.site_id = k.site_id and s.sop_instance_uid = k.sop_instance_uid`,
};

/** A row of `findSessions`. */
export function storedSession(cells: readonly Cell[]): MppsSession {
	const [, id, sopInstanceUid, studyUid, status, attributes, late, reports, lastDigest, lastMessageId, updatedAt] = cells as string[];
	return {
		id: id as string,
		sopInstanceUid: sopInstanceUid as string,
		studyUid: studyUid as string,
		status: status as MppsStatus,
		attributes: attributes as string,
		late: late === 't',
		reports: Number(reports),
		lastDigest: lastDigest as string,
		lastMessageId: lastMessageId as string,
		updatedAt: updatedAt as string,
	};
}
