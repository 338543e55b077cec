import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps the filters that people save for the lists of the console. What they saved before is not known: nobody could. Release 0.1.0 neither reads
 * nor writes the table. Locks: none on what exists.
 */
export class SavedFilters extends Migration {
	override up(): void {
		this.addSql(table);
	}
}

const table = `
create table saved_filter (
	id uuid primary key,
	-- Who saved it, as the audit trail names people.
	owner text not null check (length(owner) <= 320),
	-- The address of the list in the console.
	screen text not null check (length(screen) <= 64),
	name text not null check (length(name) <= 60),
	-- The filters as the address has them. They name no patient.
	query text not null check (length(query) <= 2000),
	created_at timestamptz not null
);
create unique index saved_filter_name on saved_filter (owner, screen, name);
`;
