import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { ConnectionPool } from '../connection-pool.ts';
import type { Statement } from '../statement.ts';
import { ApiKey } from './api-key.ts';
import { IntegrationClient } from './integration-client.ts';
import { Notification } from './notification.ts';
import { RemoteAe } from './remote-ae.ts';
import { SignInGroup } from './sign-in-group.ts';
import { SignInPolicy } from './sign-in-policy.ts';
import { Site } from './site.ts';
import { TokenIssuer } from './token-issuer.ts';
import { User } from './user.ts';

export type { EntityManager };
export { ApiKey, IntegrationClient, Notification, RemoteAe, SignInGroup, SignInPolicy, Site, TokenIssuer, User };

/**
 * Opens the unit of work over slowly changing data: sites, users, keys, clients, remote AEs, issuers of tokens. The hot paths have statements of their
 * own, so what carries it out (driver, SQL builder) is loaded when somebody first asks for it: a node that only takes data does without these 12 MB.
 */
export async function openEntities(pool: ConnectionPool): Promise<MikroORM> {
	const [orm, { ormConnection }] = await Promise.all([import('@mikro-orm/postgresql'), import('../orm-connection.ts')]);
	return orm.MikroORM.init({
		...ormConnection(pool),
		entities: [Site, User, SignInGroup, SignInPolicy, ApiKey, IntegrationClient, RemoteAe, TokenIssuer, Notification],
		allowGlobalContext: false,
	});
}

/** Carries out a statement in the transaction that the unit of work is in. */
export async function runInTransaction(em: EntityManager, statement: Statement, values: readonly unknown[]): Promise<void> {
	await rowsInTransaction(em, statement, values);
}

/** Reads rows in the transaction that the unit of work is in. Values that are no texts, numbers or booleans come as the database writes them. */
export async function rowsInTransaction<T>(em: EntityManager, { text }: Statement, values: readonly unknown[]): Promise<T[]> {
	const transaction = em.getTransactionContext();
	if (transaction === undefined) throw new Error('there is no transaction for the statement');
	const { CompiledQuery } = await import('kysely');
	return (await transaction.executeQuery(CompiledQuery.raw(text, [...values]))).rows as T[];
}
