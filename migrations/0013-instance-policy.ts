import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the policy for other content under a known SOP Instance UID, and the settlement of conflicts. Locks: the two tables, for a
 * moment; imaging_conflict while its index is built anew.
 */
export class InstancePolicy extends Migration {
	override up(): void {
		this.addSql(policy);
	}
}

const policy = `
alter table site add column instance_policy text not null default 'keep' check (instance_policy in ('keep', 'replace', 'refuse'));

alter table imaging_conflict
	-- A person kept what was stored, or what was received; or an object was the instance until it was replaced by the site's policy,
	-- or superseded by a person's decision.
	add column settlement text check (settlement in ('stored', 'received', 'replaced', 'superseded')),
	add column settled_by text;
drop index imaging_conflict_instance;
create index imaging_conflict_instance on imaging_conflict (site_id, sop_instance_uid, digest);
create index imaging_conflict_open on imaging_conflict (site_id, id) where settled_at is null;
`;
