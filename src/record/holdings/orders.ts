import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import type { Row } from '../apply/rows.ts';
import { keyDigest } from '../key-digest.ts';

export function orderKey(order: { system: string; value: string }): string {
	return keyDigest(`${order.system}|${order.value}`);
}

/** Observations by order and item. */
export class Orders {
	readonly #rows: HeldRows;
	/** Row ids by order key, then item key. */
	readonly #orders = new Map<string, Map<string, string>>();

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	addStored(orderKey: string, item: string, row: Row): void {
		this.#rows.addStored(row);
		const items = this.#orders.get(orderKey);
		if (items) items.set(item, row.id);
		else this.#orders.set(orderKey, new Map([[item, row.id]]));
	}

	/** Returns any observation of the order. All of them belong to one patient. */
	anyOf(orderKey: string): Row | undefined {
		const first = this.#orders.get(orderKey)?.values().next().value;
		return first === undefined ? undefined : this.#rows.row('Observation', first);
	}

	/** Returns an observation. `item` is the digest of its key within the order. */
	observation(orderKey: string, item: string): Row | undefined {
		const id = this.#orders.get(orderKey)?.get(item);
		return id === undefined ? undefined : this.#rows.row('Observation', id);
	}

	/** Returns the observations of an order with their items. */
	itemsOf(orderKey: string): [item: string, row: Row][] {
		const found: [string, Row][] = [];
		for (const [item, id] of this.#orders.get(orderKey) ?? []) {
			const row = this.#rows.row('Observation', id);
			if (row) found.push([item, row]);
		}
		return found;
	}

	put(orderKey: string, item: string, row: Row): void {
		const { undo } = this.#rows;
		this.#rows.put(row);
		const items = this.#orders.get(orderKey);
		if (items) undo.put(items, item, row.id);
		else undo.put(this.#orders, orderKey, new Map([[item, row.id]]));
	}
}

/** Observations of orders; the keys are made by `orderKey`. */
export const orders: Holding<Set<string>, Orders> = {
	name: 'orders',
	keys: () => new Set(),
	held: (rows) => new Orders(rows),
};
