import { Migration } from '@mikro-orm/migrations';

/** Requests for storage commitment, until their report has arrived. Locks: none that matter, the table is new. */
export class Commitment extends Migration {
	override up(): void {
		this.addSql(requests);
	}
}

const requests = `
create table commitment_request (
	site_id uuid not null,
	id uuid not null,
	transaction_uid text not null,
	-- Another list under a transaction UID that is in use: all of it is refused.
	is_duplicate boolean not null,
	calling_ae text not null,
	called_ae text not null,
	source text not null,
	-- The instances that it asks about, in the order of the request.
	sop_class_uids text[] not null,
	sop_instance_uids text[] not null,
	received_at timestamptz not null,
	state text not null check (state in ('waiting', 'reported', 'failed')),
	attempts integer not null default 0,
	-- Not before; while a node is at work on it, the moment at which another may take it up.
	due_at timestamptz not null,
	-- The counts of the last report.
	committed integer,
	refused integer,
	-- Why the last attempt to report failed.
	failure text,
	settled_at timestamptz,
	primary key (site_id, id)
) with (fillfactor = 80);
create index commitment_request_transaction on commitment_request (site_id, calling_ae, transaction_uid);
create index commitment_request_due on commitment_request (due_at) where state = 'waiting';
create index commitment_request_settled on commitment_request (settled_at) where state <> 'waiting';
`;
