import { Migration } from '@mikro-orm/migrations';

/**
 * The OIDC providers whose access tokens a site takes. Locks: none that matter, the table is new. A node of release 0.1.0 does not know the
 * table, and goes on to take API keys only.
 */
export class TokenIssuers extends Migration {
	override up(): void {
		this.addSql(tokenIssuers);
	}
}

const tokenIssuers = `
create table token_issuer (
	site_id uuid not null references site (id),
	id uuid not null,
	label text not null,
	owner_id uuid not null references app_user (id),
	issuer text not null,
	audience text not null,
	clients text[] not null check (cardinality(clients) > 0),
	jwks_url text,
	token_endpoint text,
	client_claim text,
	scope_claim text,
	site_claim text,
	site_value text,
	introspection_url text,
	introspection_client text,
	introspection_secret text,
	active boolean not null default true,
	created_at timestamptz not null default now(),
	primary key (site_id, id),
	check ((site_claim is null) = (site_value is null)),
	check ((introspection_url is null) = (introspection_client is null) and (introspection_url is null) = (introspection_secret is null))
);
`;
