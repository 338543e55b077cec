import { newId } from '#core/id.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { quarantineKey } from '#storage/objects/object-key.ts';
import { insertAuditEvent } from '#storage/statements/administrative/read-access.ts';
import { keepFromMoving, keepHolds } from '#storage/statements/administrative/retention.ts';
import { deleteStudy, findOldStudies, noteRemovedObjects, unremovedObjects } from '#storage/statements/administrative/study-retention.ts';
import { takeTurns } from '#storage/statements/take-turns.ts';
import type { RetentionMeans, RunOrder } from './means.ts';
import type { KeptSite } from './policy.ts';

/** DICOM PS3.16 CID 7011: the reason that IHE IOCM has for objects whose retention is over. */
export const retentionExpired = { code: '113039', meaning: 'Data Retention Policy Expired' } as const;

/** Studies that are looked for at once. */
const pageStudies = 200;
/** Deleted studies whose objects are removed at once. */
const leftAtOnce = 20;

interface DeletedRow {
	patient_id: string | null;
	changed_at: Date;
	series_count: number;
	instance_count: number;
	bytes: string;
}

type Way = Pick<RunOrder, 'by' | 'source'>;

/**
 * Deletes the studies of a site that have not changed since a moment and that no hold keeps. Yields once for each. Rows go first, in the turn of
 * the site and together with the record of the deletion, which names the objects until they are removed too.
 */
export async function* deleteOldStudies(means: RetentionMeans, way: Way, site: KeptSite, cutoff: Date): AsyncIterable<string> {
	let after = '';
	for (;;) {
		const found = await means.database.rows<{ study_uid: string }>(findOldStudies, [site.id, cutoff, after, pageStudies]);
		for (const { study_uid: uid } of found) {
			after = uid;
			if (await deleted(means.database, way, site, { uid, cutoff })) yield uid;
		}
		if (found.length < pageStudies) return;
	}
}

/** Deletes a study. Returns false if it has changed in the meantime, a hold was placed, or the site has begun to move. */
async function deleted(
	database: ConnectionPool,
	{ by, source }: Way,
	site: KeptSite,
	{ uid, cutoff }: { uid: string; cutoff: Date },
): Promise<boolean> {
	return database.transaction(async (client) => {
		await client.query("set local lock_timeout = '5s'");
		await client.query(takeTurns.text, [[site.id], [0]]);
		await client.query(keepHolds);
		if ((await client.query(keepFromMoving.text, [site.id])).rowCount === 0) return false;
		const values = [site.id, cutoff, uid, retentionExpired.code, retentionExpired.meaning, by];
		const [row] = (await client.query<DeletedRow>(deleteStudy.text, values)).rows;
		if (row === undefined) return false;
		const detail = {
			...{ reason_code: retentionExpired.code, reason: retentionExpired.meaning, changed_at: row.changed_at.toISOString() },
			...{ series: row.series_count, instances: row.instance_count, bytes: Number(row.bytes) },
		};
		const patients = row.patient_id === null ? null : [row.patient_id];
		const at = new Date().toISOString();
		const named = [JSON.stringify({ before: detail }), patients, [uid]];
		await client.query(insertAuditEvent.text, [newId(), at, site.id, by, 'study.delete', uid, source, ...named]);
		return true;
	});
}

/**
 * Removes the objects of deleted studies. Yields once for each study. Whatever an earlier run could not remove goes with the next one; a removal may
 * be repeated.
 */
export async function* removeLeftObjects({ database, objects }: RetentionMeans, siteId: string): AsyncIterable<string> {
	for (;;) {
		const left = await database.rows<{ id: string; deleted_at: string; object_keys: string[] }>(unremovedObjects, [siteId, leftAtOnce]);
		for (const { id, deleted_at: deletedAt, object_keys: keys } of left) {
			// A file in quarantine has another name; a record of a segment has one place.
			for (const key of keys) if (!(await objects.remove(key))) await objects.remove(quarantineKey(key));
			await database.run(noteRemovedObjects, [siteId, id, deletedAt]);
			yield id;
		}
		if (left.length === 0) return;
	}
}
