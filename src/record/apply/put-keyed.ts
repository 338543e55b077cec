import { items } from '../holdings/items.ts';
import { peopleAndPlaces } from '../holdings/people-and-places.ts';
import { visits } from '../holdings/visits.ts';
import { isIdentified } from '../person-or-place.ts';
import type { Row } from './rows.ts';
import type { WorkingSet } from './working-set.ts';

/** Stores a row so that later messages of the batch find it by its id and by its keys. */
export function putKeyed(set: WorkingSet, row: Row): void {
	const { visit_key: visit, item_key: item, order_key: order } = row.links;
	if (typeof visit === 'string') set.of(visits).put(visit, row);
	// An item with an order belongs to the order and not to the patient.
	else if (typeof item === 'string' && order === undefined) set.of(items).put(row);
	else if (isIdentified(row.resourceType)) set.of(peopleAndPlaces).put(row);
	else set.put(row);
}
