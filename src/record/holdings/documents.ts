import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import type { EntryReference, EntryType } from '../document.ts';

/** The keys that a document names: its own, and the items of its entries, for the patients with an identifier value. */
export interface DocumentKeys {
	identifierValues: readonly string[];
	keys: readonly string[];
	items: readonly EntryReference[];
}

/** States that a document contains a resource under an item. */
export interface DocumentStatement {
	/** Row id of the DocumentReference. */
	documentId: string;
	patientId: string;
	resourceType: EntryType;
	item: string;
	/** Row id. */
	resourceId: string;
	/** The time of the document; see DocumentChange. */
	statedAt: string;
	/** False once the document is superseded or no longer states it. */
	isCurrent: boolean;
}

/** Bytes of a document. They are written once and never changed. */
export interface NewBinary {
	id: string;
	/** Row id of the DocumentReference. */
	documentId: string;
	contentType: string;
	bytes: Uint8Array;
}

/** An item of the patient that is stated by documents that were not read themselves. */
export interface StatedElsewhere {
	patientId: string;
	resourceType: EntryType;
	item: string;
	resourceId: string;
	/** The latest time of a current document that states it; undefined when none does. */
	statedAt: string | undefined;
}

/** Tracks which documents state which resources: as it was read, with the changes of the batch. */
export class StatedDocuments {
	readonly #rows: HeldRows;
	/** Statements by document, then by resource type and item. */
	readonly #statements = new Map<string, Map<string, DocumentStatement>>();
	readonly #elsewhere = new Map<string, readonly StatedElsewhere[]>();
	/** Row ids of patients who have a document of a key. */
	readonly #owners = new Map<string, readonly string[]>();
	readonly binaries: NewBinary[] = [];
	/** The statements to write, by document, resource type and item. */
	readonly changed = new Map<string, DocumentStatement>();

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	addStored(statement: DocumentStatement): void {
		this.#of(statement.documentId).set(nameOf(statement), statement);
	}

	addElsewhere(stated: StatedElsewhere): void {
		const key = keyOf(stated);
		this.#elsewhere.set(key, [...(this.#elsewhere.get(key) ?? []), stated]);
	}

	addOwner(key: string, patientId: string): void {
		this.#owners.set(key, [...this.ownersOf(key), patientId]);
	}

	ownersOf(key: string): readonly string[] {
		return this.#owners.get(key) ?? [];
	}

	put(statement: DocumentStatement): void {
		const { undo } = this.#rows;
		undo.put(this.#of(statement.documentId), nameOf(statement), statement);
		undo.put(this.changed, `${statement.documentId}|${nameOf(statement)}`, statement);
	}

	putBinary(binary: NewBinary): void {
		this.#rows.undo.push(this.binaries, binary);
	}

	/** Returns the current statements of the document. */
	currentOf(documentId: string): DocumentStatement[] {
		return [...(this.#statements.get(documentId)?.values() ?? [])].filter(({ isCurrent }) => isCurrent);
	}

	/** Returns the row ids of resources that documents of the patient have stated under the item. After a merge there may be several. */
	resourcesOf(item: ItemName): Set<string> {
		const key = keyOf(item);
		const ids = (this.#elsewhere.get(key) ?? []).map(({ resourceId }) => resourceId);
		for (const statement of this.#ofItem(item)) ids.push(statement.resourceId);
		return new Set(ids);
	}

	/** Returns the latest time of another current document that states the resource; undefined when none does. */
	latestElsewhere(item: ItemName, resourceId: string, documentId: string): string | undefined {
		let latest: string | undefined;
		const consider = (statedAt: string | undefined) => {
			if (statedAt !== undefined && (latest === undefined || statedAt > latest)) latest = statedAt;
		};
		for (const stated of this.#elsewhere.get(keyOf(item)) ?? []) if (stated.resourceId === resourceId) consider(stated.statedAt);
		for (const statement of this.#ofItem(item)) {
			if (statement.isCurrent && statement.resourceId === resourceId && statement.documentId !== documentId) consider(statement.statedAt);
		}
		return latest;
	}

	*#ofItem(item: ItemName): Generator<DocumentStatement> {
		const name = nameOf(item);
		for (const statements of this.#statements.values()) {
			const statement = statements.get(name);
			if (statement?.patientId === item.patientId) yield statement;
		}
	}

	#of(documentId: string): Map<string, DocumentStatement> {
		const held = this.#statements.get(documentId);
		if (held) return held;
		const statements = new Map<string, DocumentStatement>();
		this.#statements.set(documentId, statements);
		return statements;
	}
}

export interface ItemName {
	patientId: string;
	resourceType: EntryType;
	item: string;
}

function nameOf({ resourceType, item }: Pick<ItemName, 'resourceType' | 'item'>): string {
	return `${resourceType}|${item}`;
}

function keyOf(item: ItemName): string {
	return `${item.patientId}|${nameOf(item)}`;
}

export const documents: Holding<DocumentKeys[], StatedDocuments> = {
	name: 'documents',
	keys: () => [],
	held: (rows) => new StatedDocuments(rows),
};
