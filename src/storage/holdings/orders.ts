import { orders } from '#record/holdings/orders.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import type { Statement } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Finds every observation of the given orders. */
export function findObservations(observations: ResourceRows): Statement {
	return {
		name: 'find_observations',
		text: `
select ${observations.columns('o')}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, order_key)
join observation o on o.site_id = k.site_id and o.order_key = k.order_key`,
	};
}

export function storedOrders(tables: ResourceTables): StoredHolding {
	const observations = tables.of('Observation');
	const byOrder = findObservations(observations);
	return {
		async read(reading) {
			for (const cells of await reading.run(
				byOrder,
				reading.named(orders, (keys) => keys),
			)) {
				const row = observations.rowOf(cells);
				const { order_key: orderKey, item_key: item } = row.links;
				reading.setOf(cells).of(orders).addStored(String(orderKey), String(item), row);
			}
		},
	};
}
