import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import { RowIndex } from '../apply/row-index.ts';
import type { Row } from '../apply/rows.ts';
import type { ResourceType } from '../table-shape.ts';

/** An item of the patients with one of the identifier values. */
export interface ItemKey {
	resourceType: ResourceType;
	identifierValues: readonly string[];
	item: string;
}

/** The facts that segments state about patients, by type, patient and item. */
export class Items {
	readonly #index: RowIndex;

	constructor(rows: HeldRows) {
		this.#index = new RowIndex(rows);
	}

	addStored(row: Row): void {
		this.#index.addStored(keyOf(row), row);
	}

	/** Returns the patient's rows under the item key. After a merge there may be several. */
	of(type: ResourceType, patientId: string, item: string): Row[] {
		return this.#index.of(type, `${type}|${patientId}|${item}`);
	}

	put(row: Row): void {
		this.#index.put(keyOf(row), row);
	}
}

function keyOf({ resourceType, links }: Row): string {
	return `${resourceType}|${links['patient_id']}|${links['item_key']}`;
}

export const items: Holding<ItemKey[], Items> = {
	name: 'items',
	keys: () => [],
	held: (rows) => new Items(rows),
};
