import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps what each `config apply` changed, so that it can be rolled back. Applies of before are not known, because there were none. Release
 * 0.1.0 neither reads nor writes the table. Locks: none that others wait for.
 */
export class ConfigurationApplies extends Migration {
	override up(): void {
		this.addSql(`
create table configuration_apply (
	id uuid primary key,
	applied_at timestamptz not null,
	actor text not null,
	-- The whole state before, as config export writes it.
	before text not null,
	-- The things that the apply touched, each as it was before and after, with the order of members.
	changes json not null,
	-- The apply that this one brought back to what was before it.
	rolls_back uuid,
	rolled_back_by uuid
);
`);
	}
}
