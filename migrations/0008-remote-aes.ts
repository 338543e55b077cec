import { Migration } from '@mikro-orm/migrations';

/** DICOM application entities that a site lets this service call. Locks: none that matter, the table is new. */
export class RemoteAes extends Migration {
	override up(): void {
		this.addSql(remoteAes);
	}
}

const remoteAes = `
create table remote_ae (
	site_id uuid not null references site (id),
	id uuid not null,
	title text not null,
	host text not null,
	port integer not null check (port between 1 and 65535),
	tls boolean not null,
	created_at timestamptz not null default now(),
	primary key (site_id, id),
	unique (site_id, title)
);
`;
