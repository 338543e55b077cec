import { Authorities, type AuthorityAlias } from '#record/identity/authorities.ts';
import { listAliases } from '#storage/statements/administrative/authorities.ts';
import type { OperationContext } from './context.ts';

interface AliasRow {
	system: string;
	other: string;
	origin: AuthorityAlias['origin'];
	ended_at: Date | null;
}

/** Reads which names of assigning authorities are one in a site. */
export async function authoritiesOf({ database }: OperationContext, siteId: string): Promise<Authorities> {
	const rows = await database.rows<AliasRow>(listAliases, [siteId]);
	return new Authorities(rows.map(({ ended_at: endedAt, ...alias }) => ({ ...alias, holds: endedAt === null })));
}
