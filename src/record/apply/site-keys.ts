import type { ResourceType } from '../table-shape.ts';
import type { Holding } from './holding.ts';

/** The keys of one site that a batch names. Their rows are read before it is applied. */
export class SiteKeys {
	/** Row ids by type. */
	readonly ids = new Map<ResourceType, Set<string>>();
	readonly #named = new Map<Holding<unknown, unknown>, unknown>();

	/** Returns the keys of a holding, to which a change adds its own. */
	of<Keys>(holding: Holding<Keys, unknown>): Keys {
		const held = this.named(holding);
		if (held !== undefined) return held;
		const keys = holding.keys();
		this.#named.set(holding, keys);
		return keys;
	}

	/** Returns the keys of a holding; undefined when no change has named any of it. */
	named<Keys>(holding: Holding<Keys, unknown>): Keys | undefined {
		return this.#named.get(holding) as Keys | undefined;
	}

	addRow(type: ResourceType, id: string): void {
		const ids = this.ids.get(type);
		if (ids) ids.add(id);
		else this.ids.set(type, new Set([id]));
	}
}
