import { Migration } from '@mikro-orm/migrations';

/**
 * Settings of sites, integration clients and API keys that have no column of their own, by name. Locks: site, integration_client and
 * api_key, for a moment; the default is kept in the catalog, so no row is written.
 */
export class Settings extends Migration {
	override up(): void {
		this.addSql(settings);
	}
}

const settings = `
alter table site add column settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object');
alter table integration_client add column settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object');
alter table api_key add column settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object');
`;
