import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { ormConnection } from '../orm-connection.ts';
import { ApiKey } from './api-key.ts';
import { IntegrationClient } from './integration-client.ts';
import { RemoteAe } from './remote-ae.ts';
import { Site } from './site.ts';
import { User } from './user.ts';

export type { EntityManager };
export { ApiKey, IntegrationClient, RemoteAe, Site, User };

/** The unit of work over what changes slowly: sites, users, keys, clients, remote AEs. The hot paths have statements of their own. */
export function openEntities(databaseUrl: string): Promise<MikroORM> {
	return MikroORM.init({
		...ormConnection(databaseUrl),
		entities: [Site, User, ApiKey, IntegrationClient, RemoteAe],
		allowGlobalContext: false,
	});
}
