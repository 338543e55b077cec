import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import type { ConnectionPool } from '../connection-pool.ts';
import { ormConnection } from '../orm-connection.ts';
import type { Statement } from '../statement.ts';
import { ApiKey } from './api-key.ts';
import { IntegrationClient } from './integration-client.ts';
import { RemoteAe } from './remote-ae.ts';
import { Site } from './site.ts';
import { TokenIssuer } from './token-issuer.ts';
import { User } from './user.ts';

export type { EntityManager };
export { ApiKey, IntegrationClient, RemoteAe, Site, TokenIssuer, User };

/**
 * Opens the unit of work over slowly changing data: sites, users, keys, clients, remote AEs, issuers of tokens. The hot paths have statements of their own.
 */
export function openEntities(pool: ConnectionPool): Promise<MikroORM> {
	return MikroORM.init({
		...ormConnection(pool),
		entities: [Site, User, ApiKey, IntegrationClient, RemoteAe, TokenIssuer],
		allowGlobalContext: false,
	});
}

/** Carries out a statement in the transaction that the unit of work is in. */
export async function runInTransaction(em: EntityManager, { text }: Statement, values: readonly unknown[]): Promise<void> {
	const transaction = em.getTransactionContext();
	if (transaction === undefined) throw new Error('there is no transaction for the statement');
	await transaction.executeQuery(CompiledQuery.raw(text, [...values]));
}
