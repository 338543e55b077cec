import type { StatementRunner } from './connection.ts';
import type { Statement } from './statement.ts';

const readDefinitions: Statement = {
	name: 'read_definitions',
	text: `
select d.content
from site_definition d
where d.site_id = $1
order by d.created_at desc, d.id`,
};

/** The number of the state of a site that has never loaded a definition. */
export const noDefinitions = '0';

/** The most sites whose definitions are held at once. Those of a further site take the place of the ones used longest ago. */
const sitesMax = 200;

/**
 * The profiles and terms that sites have loaded, as a thread keeps them. The version comes with the access snapshot, so that they are read
 * again only when they have changed. `make` turns their texts into what is looked up, the newest text first.
 */
export class SiteDefinitions<Made> {
	readonly #held = new Map<string, { version: string; made: Made }>();
	readonly #make: (siteId: string, contents: readonly string[]) => Made;

	constructor(make: (siteId: string, contents: readonly string[]) => Made) {
		this.#make = make;
	}

	/** Reads what is missing. Afterwards `of` gives the definitions of this version or a newer one. */
	async prepare(connection: Pick<StatementRunner, 'run'>, siteId: string, version: string): Promise<void> {
		const held = this.#held.get(siteId);
		if (held !== undefined) {
			this.#held.delete(siteId);
			this.#held.set(siteId, held);
		}
		if (version === noDefinitions || held?.version === version) return;
		const rows = await connection.run(readDefinitions, [siteId]);
		const made = this.#make(
			siteId,
			rows.map(([content]) => String(content)),
		);
		this.#held.set(siteId, { version, made });
		for (const [oldest] of this.#held) {
			if (this.#held.size <= sitesMax) break;
			this.#held.delete(oldest);
		}
	}

	/** Returns what `prepare` has made; undefined for a site without definitions of its own. */
	of(siteId: string): Made | undefined {
		return this.#held.get(siteId)?.made;
	}
}
