import { Migration } from '@mikro-orm/migrations';

/** Records committed transactions of messages, for a worker that lost the answer to a COMMIT. Locks: none, the table is new. */
export class Batches extends Migration {
	override up(): void {
		this.addSql(batches);
	}
}

const batches = `
create table committed_batch (
	-- The site and id of the batch's first message.
	site_id uuid not null,
	id uuid not null,
	committed_at timestamptz not null,
	primary key (site_id, id)
);
create index committed_batch_age on committed_batch using brin (committed_at);
`;
