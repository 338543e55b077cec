import type { JsonObject } from '#core/json.ts';
import { type Row, resourceOf } from '../../apply/rows.ts';
import type { WorkingSet } from '../../apply/working-set.ts';
import type { DocumentEntry, EntryReference } from '../../document.ts';
import { type DocumentStatement, documents } from '../../holdings/documents.ts';
import { codeName } from '../../item-key.ts';

export interface KnownItem {
	/** The item under which the document states the entry. */
	item: string;
	/** The resource that documents have stated under it. */
	known: Row | undefined;
}

export interface Stated {
	patientId: string;
	/** Row id of the document. */
	documentId: string;
	/** What the document and those that it replaces stated before. */
	before: readonly DocumentStatement[];
}

export function nameOf({ resourceType, item }: EntryReference): string {
	return `${resourceType}|${item}`;
}

/** All items under which an entry may be known, the most exact first. */
export function itemsOf({ item, otherItems }: DocumentEntry): string[] {
	return otherItems === undefined ? [item] : [...otherItems.exact, item, ...otherItems.general];
}

/**
 * Finds the items under which the entries are known, by name. An id that stands for more things in one document than in another one has
 * other keys there. A key that the document stated itself comes first, then one that another current document states, then any that is
 * known; each is for one entry only. Where none is known, an entry has its own item.
 */
export function knownItems(set: WorkingSet, entries: readonly DocumentEntry[], stated: Stated): Map<string, KnownItem> {
	const own = new Set(stated.before.filter(({ patientId }) => patientId === stated.patientId).map(nameOf));
	const taken = new Set<string>();
	const found = new Map<string, KnownItem>();
	for (const entry of entries) {
		let best: { rank: number; item: KnownItem } | undefined;
		for (const item of itemsOf(entry)) {
			const { resourceType } = entry;
			const name = nameOf({ resourceType, item });
			const known = taken.has(name) ? undefined : knownResource(set, { resourceType, item }, stated.patientId);
			if (known === undefined) continue;
			if (entry.otherItems?.general.includes(item) && !isAlike(resourceOf(known), entry.resource)) continue;
			const isStated = () =>
				set.of(documents).latestElsewhere({ ...stated, resourceType, item }, known.id, stated.documentId) !== undefined;
			const rank = own.has(name) ? 0 : isStated() ? 1 : 2;
			if (best === undefined || rank < best.rank) best = { rank, item: { item, known } };
		}
		const chosen = best?.item ?? { item: entry.item, known: undefined };
		taken.add(nameOf({ resourceType: entry.resourceType, item: chosen.item }));
		found.set(nameOf(entry), chosen);
	}
	return found;
}

function knownResource(set: WorkingSet, { resourceType, item }: EntryReference, patientId: string): Row | undefined {
	const ids = [...set.of(documents).resourcesOf({ patientId, resourceType, item })].sort();
	const rows = ids.map((id) => set.row(resourceType, id)).filter((row) => row !== undefined);
	// A FHIR client or an unmerge may have moved it to another patient. After a merge several may be known; the newest one is meant.
	return rows.filter((row) => row.links['patient_id'] === patientId).at(-1);
}

/** A key that tells less than the document needs may be that of another thing with the same id: one with another code or category. */
function isAlike(held: JsonObject, stated: JsonObject): boolean {
	return codeName(held['code'] as Concept) === codeName(stated['code'] as Concept) && categoryOf(held) === categoryOf(stated);
}

type Concept = Parameters<typeof codeName>[0];

function categoryOf({ category }: JsonObject): string {
	return codeName((category as Concept[] | undefined)?.[0]);
}
