import type { EntryType } from '#record/document.ts';
import { type DocumentKeys, documents } from '#record/holdings/documents.ts';
import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { cellAt, columnsOf, textAt } from '../columns.ts';
import { type Naming, type Reading, siteOf } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { packBytes, plainArray, type Statement, textArray } from '../statement.ts';
import { moveDocumentEntries } from '../statements/move-rows.ts';
import type { StoredHolding } from '../stored-holding.ts';
import type { Writing } from '../writing.ts';

/**
 * Finds the patients' documents that have one of the keys as their own, as that of their set, or as that of the document which they
 * replace.
 */
export function findDocuments(rows: ResourceRows): Statement {
	const by = (column: string) => `
select ${rows.columns('r')}
from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as k (site_id, patient_id, key)
join ${rows.shape.table} r on r.site_id = k.site_id and r.${column} = k.key and r.patient_id = k.patient_id`;
	return { name: 'find_documents', text: ['document_key', 'set_key', 'replaces_key'].map(by).join('\nunion all') };
}

const owner = columnsOf({ k: ['site_id', 'key'], d: ['patient_id'] });

/** Finds the patients whose documents have the keys: a few of them, if a sender used an id more than once. */
export const findDocumentOwners: Statement = {
	name: 'find_document_owners',
	text: `
select ${owner.list}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, key)
cross join lateral (
	select r.patient_id from document_reference r where r.site_id = k.site_id and r.document_key = k.key limit 4) d
where d.patient_id is not null`,
};

const entry = columnsOf({ e: ['site_id', 'document_id', 'patient_id', 'resource_type', 'item_key', 'resource_id', 'stated_at'] });

/**
 * Finds the current statements of the documents. Statements of earlier versions are found by their items, so that a long history is not
 * read
 * again with each version.
 */
export const findDocumentEntries: Statement = {
	name: 'find_document_entries',
	text: `
select ${entry.list}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, document_id)
join document_entry e on e.site_id = k.site_id and e.document_id = k.document_id and e.is_current`,
};

const elsewhere = columnsOf({ e: ['site_id', 'patient_id', 'resource_type', 'item_key', 'resource_id'] });
const latestAt = elsewhere.width;

/** Finds the resources of the patients' items, each with the latest time at which a current document outside $5 states it. */
export const findStatedItems: Statement = {
	name: 'find_stated_items',
	text: `
select ${elsewhere.list},
	max(e.stated_at collate "C") filter (where e.is_current and e.document_id <> all ($5::uuid[]))
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[]) as k (site_id, patient_id, resource_type, item_key)
join document_entry e on e.site_id = k.site_id and e.patient_id = k.patient_id and e.resource_type = k.resource_type and e.item_key = k.item_key
group by ${elsewhere.list}`,
};

/** Writes which resources documents state now, or no longer. */
const upsertDocumentEntries: Statement = {
	name: 'upsert_document_entries',
	text: `
insert into document_entry (site_id, document_id, resource_type, item_key, patient_id, resource_id, stated_at, is_current)
select k.site_id, k.document_id, k.resource_type, k.item_key, k.patient_id, k.resource_id, k.stated_at, k.is_current
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::boolean[])
	as k (site_id, document_id, resource_type, item_key, patient_id, resource_id, stated_at, is_current)
on conflict (site_id, document_id, resource_type, item_key) do update set
	patient_id = excluded.patient_id, resource_id = excluded.resource_id, stated_at = excluded.stated_at, is_current = excluded.is_current`,
};

/** Inserts the bytes of documents. */
const insertBinaries: Statement = {
	name: 'insert_binaries',
	text: `
insert into binary_content (site_id, id, document_id, content_type, last_updated, bytes)
select k.site_id, k.id, k.document_id, k.content_type, $5::timestamptz, substring($8::bytea from k.start for k.length)
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $6::integer[], $7::integer[]) as k (site_id, id, document_id, content_type, start, length)`,
};

/** Reads and writes documents by their keys, with their statements. */
export function storedDocuments(tables: ResourceTables): StoredHolding {
	const rows = tables.of('DocumentReference');
	const byKey = findDocuments(rows);
	return {
		async readOfPatients(reading) {
			const naming = reading.naming(documents);
			if (naming.length === 0) return;
			const [found] = await Promise.all([readDocuments(reading, naming, rows, byKey), readOwners(reading, naming)]);
			const items = [...(await readEntries(reading, found)), ...itemsNamed(naming)];
			await readItems(reading, found, items, tables);
		},
		write(writing) {
			sendEntries(writing);
			sendBinaries(writing);
		},
		move(writing, siteId, { from, to, reason }) {
			writing.send(moveDocumentEntries[reason], [siteId, from.id, to.id]);
		},
	};
}

type DocumentNaming = readonly Naming<readonly DocumentKeys[]>[];

interface SiteDocument {
	siteId: string;
	id: string;
}

interface SiteItem {
	siteId: string;
	patientId: string;
	resourceType: EntryType;
	item: string;
}

/** Collects a value for each patient whom a document names. */
function ofPatients<T>(naming: DocumentNaming, of: (document: DocumentKeys, siteId: string, patientId: string) => readonly T[]): T[] {
	return naming.flatMap(({ siteId, set, keys }) =>
		keys.flatMap((document) =>
			[...set.of(patientIdentifiers).patientsOf(document.identifierValues)].flatMap((patientId) => of(document, siteId, patientId)),
		),
	);
}

function itemsNamed(naming: DocumentNaming): SiteItem[] {
	return ofPatients(naming, ({ items }, siteId, patientId) =>
		items.map(({ resourceType, item }) => ({ siteId, patientId, resourceType, item })),
	);
}

async function readDocuments(reading: Reading, naming: DocumentNaming, rows: ResourceRows, byKey: Statement): Promise<SiteDocument[]> {
	const named = ofPatients(naming, ({ keys }, siteId, patientId) => keys.map((key) => ({ siteId, patientId, key })));
	if (named.length === 0) return [];
	const answer = await reading.run(byKey, [
		plainArray(named.map(({ siteId }) => siteId)),
		plainArray(named.map(({ patientId }) => patientId)),
		textArray(named.map(({ key }) => key)),
	]);
	const found = new Map<string, SiteDocument>();
	for (const cells of answer) {
		const siteId = siteOf(cells);
		const row = rows.rowOf(cells);
		if (found.has(`${siteId}/${row.id}`)) continue;
		found.set(`${siteId}/${row.id}`, { siteId, id: row.id });
		reading.setOf(cells).addStored(row);
	}
	return [...found.values()];
}

async function readOwners(reading: Reading, naming: DocumentNaming): Promise<void> {
	const named = naming.flatMap(({ siteId, keys }) => keys.flatMap((one) => one.keys.map((key) => ({ siteId, key }))));
	const values = [plainArray(named.map(({ siteId }) => siteId)), textArray(named.map(({ key }) => key))];
	for (const cells of await reading.run(findDocumentOwners, values)) {
		reading.setOf(cells).of(documents).addOwner(textAt(cells, owner.at.key), textAt(cells, owner.at.patient_id));
	}
}

/** Reads the current statements of the documents; returns their items. */
async function readEntries(reading: Reading, found: readonly SiteDocument[]): Promise<SiteItem[]> {
	if (found.length === 0) return [];
	const values = [plainArray(found.map(({ siteId }) => siteId)), plainArray(found.map(({ id }) => id))];
	const rows = await reading.run(findDocumentEntries, values);
	const { at } = entry;
	return rows.map((cells) => {
		const item = {
			patientId: textAt(cells, at.patient_id),
			resourceType: textAt(cells, at.resource_type) as EntryType,
			item: textAt(cells, at.item_key),
		};
		reading
			.setOf(cells)
			.of(documents)
			.addStored({
				...item,
				documentId: textAt(cells, at.document_id),
				resourceId: textAt(cells, at.resource_id),
				statedAt: textAt(cells, at.stated_at),
				isCurrent: true,
			});
		return { siteId: siteOf(cells), ...item };
	});
}

/** Reads the other documents that state the items, and the resources themselves. */
async function readItems(
	reading: Reading,
	found: readonly SiteDocument[],
	items: readonly SiteItem[],
	tables: ResourceTables,
): Promise<void> {
	const wanted = [...new Map(items.map((one) => [`${one.siteId}|${one.patientId}|${one.resourceType}|${one.item}`, one])).values()];
	if (wanted.length === 0) return;
	const rows = await reading.run(findStatedItems, [
		plainArray(wanted.map(({ siteId }) => siteId)),
		plainArray(wanted.map(({ patientId }) => patientId)),
		textArray(wanted.map(({ resourceType }) => resourceType)),
		textArray(wanted.map(({ item }) => item)),
		plainArray(found.map(({ id }) => id)),
	]);
	const { at } = elsewhere;
	const resources = new Map<EntryType, { siteIds: string[]; ids: string[] }>();
	for (const cells of rows) {
		const resourceType = textAt(cells, at.resource_type) as EntryType;
		const resourceId = textAt(cells, at.resource_id);
		reading
			.setOf(cells)
			.of(documents)
			.addElsewhere({
				patientId: textAt(cells, at.patient_id),
				resourceType,
				item: textAt(cells, at.item_key),
				resourceId,
				statedAt: cellAt(cells, latestAt) ?? undefined,
			});
		const columns = resources.get(resourceType) ?? { siteIds: [], ids: [] };
		resources.set(resourceType, columns);
		columns.siteIds.push(siteOf(cells));
		columns.ids.push(resourceId);
	}
	const reads = [...resources].map(([type, { siteIds, ids }]) => reading.addRows(tables.of(type), [plainArray(siteIds), plainArray(ids)]));
	await Promise.all(reads);
}

function sendEntries(writing: Writing): void {
	const statements = writing.of(documents, ({ changed }, siteId) => [...changed.values()].map((statement) => ({ siteId, ...statement })));
	if (statements.length === 0) return;
	writing.send(upsertDocumentEntries, [
		plainArray(statements.map(({ siteId }) => siteId)),
		plainArray(statements.map(({ documentId }) => documentId)),
		textArray(statements.map(({ resourceType }) => resourceType)),
		textArray(statements.map(({ item }) => item)),
		plainArray(statements.map(({ patientId }) => patientId)),
		plainArray(statements.map(({ resourceId }) => resourceId)),
		textArray(statements.map(({ statedAt }) => statedAt)),
		plainArray(statements.map(({ isCurrent }) => isCurrent)),
	]);
}

function sendBinaries(writing: Writing): void {
	const brought = writing.of(documents, ({ binaries }, siteId) => binaries.map((binary) => ({ siteId, ...binary })));
	if (brought.length === 0) return;
	const packed = packBytes(brought.map(({ bytes }) => bytes));
	writing.send(insertBinaries, [
		plainArray(brought.map(({ siteId }) => siteId)),
		plainArray(brought.map(({ id }) => id)),
		plainArray(brought.map(({ documentId }) => documentId)),
		textArray(brought.map(({ contentType }) => contentType)),
		writing.lastUpdated,
		packed.offsets,
		packed.lengths,
		packed.bytes,
	]);
}
