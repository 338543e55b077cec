import { Migration } from '@mikro-orm/migrations';

/**
 * Remembers which alerts are active on the network, who is told of them, and what was sent. Alerts of before are not known. Release 0.1.0 reads
 * and writes none of these tables. Locks: `app_user` and `site` in share row exclusive mode, for a moment, because new tables refer to them.
 */
export class Notifications extends Migration {
	override up(): void {
		this.addSql(tables);
	}
}

const tables = `
create table alert (
	id uuid primary key,
	-- The rule and its labels, and the node where the alert is one of a node.
	key text not null,
	name text not null,
	severity text not null,
	summary text not null,
	-- The address in the console of the rows that it speaks of.
	list text,
	-- The nil id where it is about no site.
	about_site uuid not null,
	node text,
	since timestamptz not null,
	started_at timestamptz not null,
	-- A node said last that it is active.
	seen_at timestamptz not null,
	ended_at timestamptz
);
create unique index alert_active on alert (key) where ended_at is null;
create index alert_recent on alert (started_at desc, id);

create table notification (
	id uuid primary key,
	-- Of a person, of a site, or of neither: then of the network.
	user_id uuid references app_user on delete cascade,
	of_site uuid references site,
	by text not null check (by in ('email', 'webhook')),
	target text not null,
	-- Signs webhooks, encrypted by a key that is not in the database.
	secret bytea,
	-- Empty: all alerts.
	alerts text[] not null,
	severities text[] not null,
	-- Empty: all sites that the person may see.
	sites uuid[] not null,
	active boolean not null,
	created_at timestamptz not null,
	check (user_id is null or of_site is null),
	check ((by = 'webhook') = (secret is not null))
);
create index notification_of_user on notification (user_id);
create index notification_of_site on notification (of_site);

create table notification_delivery (
	id uuid primary key,
	notification_id uuid not null references notification on delete cascade,
	alert_id uuid not null references alert on delete cascade,
	phase text not null check (phase in ('start', 'end')),
	state text not null default 'waiting' check (state in ('waiting', 'sent', 'failed')),
	attempts integer not null default 0,
	next_at timestamptz not null,
	-- The process that sends it, and until when no other one does.
	holder uuid,
	held_until timestamptz,
	fault text,
	created_at timestamptz not null,
	done_at timestamptz,
	unique (alert_id, notification_id, phase)
);
create index notification_delivery_due on notification_delivery (next_at) where state = 'waiting';
create index notification_delivery_of on notification_delivery (notification_id, created_at desc);
`;
