import type { DimseContext } from './context.ts';
import { queryRetrieve } from './query-retrieve.ts';
import { kindsOf, retrieve, selected } from './retrieval.ts';
import type { ServiceClass } from './service.ts';

const relational = 1;

/**
 * Serves C-GET (PS3.4 §C.4.3): the selected instances go back over the association, in the transfer syntax in which they are stored or, if
 * they are uncompressed, in one that the requestor accepted.
 */
export function getService(context: DimseContext): ServiceClass {
	return queryRetrieve(context, 'C-GET', relational, async (inquiry, exchange) => {
		const selection = selected(inquiry);
		const { total } = await kindsOf(context, selection);
		return retrieve(context, 'C-GET', inquiry, exchange, { ...selection, total }, (instance) => exchange.store(instance));
	});
}
