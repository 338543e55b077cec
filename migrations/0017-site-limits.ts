import { Migration } from '@mikro-orm/migrations';

/**
 * Limits of single sites below those of the node, and the audit trail in the order in which it is listed. Locks: site, for a moment;
 * audit_event against writing while its index is built.
 */
export class SiteLimits extends Migration {
	override up(): void {
		this.addSql(limits);
	}
}

const limits = `
alter table site
	-- Null: the limit of the node alone.
	add column waiting_max integer check (waiting_max > 0),
	add column associations_max integer check (associations_max > 0);

create index audit_event_listed on audit_event (site_id, id);
-- drops: audit_event_site, which no statement reads by.
drop index audit_event_site;
`;
