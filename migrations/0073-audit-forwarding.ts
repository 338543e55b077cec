import { Migration } from '@mikro-orm/migrations';

/**
 * Remembers how far the audit trail was sent to a receiver of syslog, and which node sends it. What was recorded before there were chains is
 * not sent. Locks: none.
 */
export class AuditForwarding extends Migration {
	override up(): void {
		this.addSql(forwarding);
	}
}

const forwarding = `
create table audit_forwarder (
	receiver text primary key,
	-- The process that sends, as long as it says so every few seconds.
	holder uuid not null,
	seen_at timestamptz not null
);

create table audit_forwarded (
	receiver text not null,
	chain_id uuid not null,
	-- The last batch that was sent.
	sequence bigint not null,
	primary key (receiver, chain_id)
);
`;
