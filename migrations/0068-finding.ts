import { Migration } from '@mikro-orm/migrations';

/**
 * Lists of the audit trail by who acted, and of associations, get an index each, so that they no longer walk the trail.
 *
 * Locks: audit_event takes no rows while its two indexes are built (some seconds for ten million). Events that are stored are in them.
 */
export class Finding extends Migration {
	override up(): void {
		this.addSql(`
create index audit_event_actor on audit_event (site_id, actor, id);
create index audit_event_association on audit_event (site_id, id) where action = 'dicom.association';
`);
	}
}
