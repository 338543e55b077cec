import { Authorities, type AuthorityAlias, noAliases } from '#record/identity/authorities.ts';
import { cellAt, textAt } from './columns.ts';
import type { StatementRunner } from './connection.ts';
import { plainArray } from './statement.ts';
import { aliasColumns, readAliases } from './statements/read-aliases.ts';

/** The number of the state of a site whose authorities have one name each. */
const neverChanged = '0';

/**
 * The names of assigning authorities that a worker keeps between batches. The version comes with the turn of the site, so no other node
 * can change them meanwhile; they are read again only when it has changed.
 */
export class AuthorityCache {
	readonly #held = new Map<string, { version: string; authorities: Authorities }>();

	/** Returns the authorities of the sites, by their versions; sites whose authorities have one name each are left out. */
	async of(connection: StatementRunner, versions: ReadonlyMap<string, string>): Promise<Map<string, Authorities>> {
		const stale = [...versions].filter(([siteId, version]) => version !== neverChanged && this.#held.get(siteId)?.version !== version);
		if (stale.length > 0) await this.#read(connection, stale);
		const found = new Map<string, Authorities>();
		for (const [siteId, version] of versions) {
			const held = version === neverChanged ? undefined : this.#held.get(siteId);
			if (held !== undefined) found.set(siteId, held.authorities);
		}
		return found;
	}

	async #read(connection: StatementRunner, sites: readonly [string, string][]): Promise<void> {
		const bySite = new Map<string, AuthorityAlias[]>();
		const { at } = aliasColumns;
		for (const cells of await connection.run(readAliases, [plainArray(sites.map(([siteId]) => siteId))])) {
			const siteId = textAt(cells, at.site_id);
			const list = bySite.get(siteId) ?? [];
			bySite.set(siteId, list);
			list.push({
				system: textAt(cells, at.system),
				other: textAt(cells, at.other),
				origin: textAt(cells, at.origin) as AuthorityAlias['origin'],
				holds: cellAt(cells, at.ended_at) === null,
			});
		}
		for (const [siteId, version] of sites) {
			const aliases = bySite.get(siteId);
			this.#held.set(siteId, { version, authorities: aliases === undefined ? noAliases : new Authorities(aliases) });
		}
	}
}
