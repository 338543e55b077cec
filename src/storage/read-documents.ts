import type { Row } from '#record/apply/rows.ts';
import type { WorkingSet } from '#record/apply/working-set.ts';
import type { EntryType } from '#record/document.ts';
import type { TableShape } from '#record/table-shape.ts';
import type { Cell, StatementRunner } from './connection.ts';
import type { SiteKeys, WorkingSets } from './read-set.ts';
import { plainArray, type Statement, textArray } from './statement.ts';
import { findDocumentEntries, findDocumentOwners, findDocuments, findStatedItems } from './statements/find-documents.ts';

/** What a document names: its keys, and the items of its entries, of the patients that answer to an identifier value. */
export interface DocumentKeys {
	identifierValue: string;
	keys: readonly string[];
	items: readonly { resourceType: EntryType; item: string }[];
}

type Keys = ReadonlyMap<string, SiteKeys>;
/** Reads rows of a type by site and row id. */
type ReadRows = (type: EntryType, siteIds: readonly string[], ids: readonly string[]) => Promise<void>;

interface SiteItem {
	siteId: string;
	patientId: string;
	resourceType: EntryType;
	item: string;
}

/** Reads documents by their keys, and what they state. */
export class DocumentReads {
	readonly #shape: TableShape;
	readonly #byKey: Statement;
	readonly #rowOf: (shape: TableShape, cells: Cell[]) => Row;

	constructor(shape: TableShape, rowOf: (shape: TableShape, cells: Cell[]) => Row) {
		this.#shape = shape;
		this.#byKey = findDocuments(shape);
		this.#rowOf = rowOf;
	}

	/** The patients of the sets have been read. */
	async read(connection: StatementRunner, keys: Keys, sets: WorkingSets, readRows: ReadRows): Promise<void> {
		if ([...keys.values()].every(({ documents }) => documents.length === 0)) return;
		const [documents] = await Promise.all([this.#documents(connection, keys, sets), readOwners(connection, keys, sets)]);
		const items = await readEntries(connection, documents, sets);
		for (const [siteId, { documents: named }] of keys) {
			for (const { identifierValue, items: own } of named) {
				for (const patientId of sets.get(siteId)?.patientsOf(identifierValue) ?? []) {
					for (const { resourceType, item } of own) items.push({ siteId, patientId, resourceType, item });
				}
			}
		}
		await readItems(connection, documents, items, sets, readRows);
	}

	async #documents(connection: StatementRunner, keys: Keys, sets: WorkingSets): Promise<SiteDocument[]> {
		const named = [...keys].flatMap(([siteId, { documents }]) =>
			documents.flatMap(({ identifierValue, keys: own }) =>
				[...(sets.get(siteId)?.patientsOf(identifierValue) ?? [])].flatMap((patientId) => own.map((key) => ({ siteId, patientId, key }))),
			),
		);
		if (named.length === 0) return [];
		const rows = await connection.run(this.#byKey, [
			plainArray(named.map(({ siteId }) => siteId)),
			plainArray(named.map(({ patientId }) => patientId)),
			textArray(named.map(({ key }) => key)),
		]);
		const found = new Map<string, SiteDocument>();
		for (const cells of rows) {
			const siteId = cells[0] as string;
			const row = this.#rowOf(this.#shape, cells);
			if (found.has(`${siteId}/${row.id}`)) continue;
			found.set(`${siteId}/${row.id}`, { siteId, id: row.id });
			setOf(sets, siteId).addStored(row);
		}
		return [...found.values()];
	}
}

interface SiteDocument {
	siteId: string;
	id: string;
}

function setOf(sets: WorkingSets, siteId: string): WorkingSet {
	const set = sets.get(siteId);
	if (set === undefined) throw new Error('a row of another site was read');
	return set;
}

async function readOwners(connection: StatementRunner, keys: Keys, sets: WorkingSets): Promise<void> {
	const named = [...keys].flatMap(([siteId, { documents }]) => documents.flatMap((one) => one.keys.map((key) => ({ siteId, key }))));
	const values = [plainArray(named.map(({ siteId }) => siteId)), textArray(named.map(({ key }) => key))];
	for (const [siteId, key, patientId] of await connection.run(findDocumentOwners, values)) {
		setOf(sets, siteId as string).documents.addOwner(key as string, patientId as string);
	}
}

/** What the documents state now; answers the items. */
async function readEntries(connection: StatementRunner, documents: readonly SiteDocument[], sets: WorkingSets): Promise<SiteItem[]> {
	if (documents.length === 0) return [];
	const values = [plainArray(documents.map(({ siteId }) => siteId)), plainArray(documents.map(({ id }) => id))];
	const rows = await connection.run(findDocumentEntries, values);
	return rows.map((cells) => {
		const [siteId = '', documentId = '', patientId = '', type, item = '', resourceId = '', statedAt = ''] = cells as string[];
		const resourceType = type as EntryType;
		const statement = { documentId, patientId, resourceType, item, resourceId, statedAt, isCurrent: true };
		setOf(sets, siteId).documents.addStored(statement);
		return { siteId, patientId, resourceType, item };
	});
}

/** By whom else the items are stated, and the resources themselves. */
async function readItems(
	connection: StatementRunner,
	documents: readonly SiteDocument[],
	items: readonly SiteItem[],
	sets: WorkingSets,
	readRows: ReadRows,
): Promise<void> {
	const wanted = [...new Map(items.map((one) => [`${one.siteId}|${one.patientId}|${one.resourceType}|${one.item}`, one])).values()];
	if (wanted.length === 0) return;
	const rows = await connection.run(findStatedItems, [
		plainArray(wanted.map(({ siteId }) => siteId)),
		plainArray(wanted.map(({ patientId }) => patientId)),
		textArray(wanted.map(({ resourceType }) => resourceType)),
		textArray(wanted.map(({ item }) => item)),
		plainArray(documents.map(({ id }) => id)),
	]);
	const resources = new Map<EntryType, { siteIds: string[]; ids: string[] }>();
	for (const cells of rows) {
		const [siteId = '', patientId = '', type, item = '', resourceId = ''] = cells as string[];
		const resourceType = type as EntryType;
		setOf(sets, siteId).documents.addElsewhere({ patientId, resourceType, item, resourceId, statedAt: cells[5] ?? undefined });
		const columns = resources.get(resourceType) ?? { siteIds: [], ids: [] };
		resources.set(resourceType, columns);
		columns.siteIds.push(siteId);
		columns.ids.push(resourceId);
	}
	await Promise.all([...resources].map(([type, { siteIds, ids }]) => readRows(type, siteIds, ids)));
}
