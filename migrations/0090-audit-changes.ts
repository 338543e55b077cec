import { Migration } from '@mikro-orm/migrations';

/**
 * The list of changes gets an index of the audit trail, so that it no longer walks what interfaces read and people look at.
 *
 * An event of such a kind costs one comparison when it is written, and no entry; changes are few. Locks: audit_event takes no rows while the index
 * is built (some seconds for ten million). Events that are stored are in it.
 */
export class AuditChanges extends Migration {
	override up(): void {
		this.addSql(`create index audit_event_changes on audit_event (site_id, id) where action !~ '${notChanges}'`);
	}
}

const notChanges =
	'^(callers|dicom|dicomweb|dimse|fhir|mllp|token)\\.|^bulk\\.(export|import)$' +
	'|\\.(download|echo|match|picture|read|retrieve|search|send|sign-in|sign-out|test|view|viewer|[a-z-]*(failed|preview|refused))$';
