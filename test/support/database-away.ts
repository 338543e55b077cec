import type { TestService } from './service.ts';
import { administer } from './template.ts';

/** Keeps everybody out of the service's database, and ends who is in. */
export async function takeAway(service: Pick<TestService, 'databaseUrl'>): Promise<void> {
	const name = new URL(service.databaseUrl).pathname.slice(1);
	await administer(service.databaseUrl, `alter database ${name} allow_connections false`);
	await administer(service.databaseUrl, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
}

export async function giveBack(service: Pick<TestService, 'databaseUrl'>): Promise<void> {
	await administer(service.databaseUrl, `alter database ${new URL(service.databaseUrl).pathname.slice(1)} allow_connections true`);
}
