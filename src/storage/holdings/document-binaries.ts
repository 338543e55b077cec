import { documentBinaries } from '#record/holdings/document-binaries.ts';
import { textAt } from '../columns.ts';
import type { Statement } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Finds those of the ids that are the bytes of documents. */
export const findDocumentBinaries: Statement = {
	name: 'find_document_binaries',
	text: `
select b.site_id, b.id
from unnest($1::uuid[], $2::uuid[]) as k (site_id, id)
join binary_content b on b.site_id = k.site_id and b.id = k.id`,
};

/** Finds out which of the Binary resources that clients write are the bytes of documents. */
export function storedDocumentBinaries(): StoredHolding {
	return {
		async read(reading) {
			const named = reading.named(documentBinaries, (ids) => ids);
			for (const cells of await reading.run(findDocumentBinaries, named)) {
				reading.setOf(cells).of(documentBinaries).add(textAt(cells, 1));
			}
		},
	};
}
