import type { Row } from './rows.ts';

/** Where an identifier value leads: the rows of `patient_identifier` for it. */
export interface IdentifierEntry {
	readonly system: string;
	readonly patientId: string;
	readonly old: boolean;
	/** 0 is the business identifier. */
	readonly rank: number;
}

/** Rank of an account, licence or social security number: searches find it, but it identifies no patient of a message. */
export const otherNumberRank = 10_000;

export interface PatientIdentifier {
	readonly value: string;
	readonly system: string;
	readonly old: boolean;
	readonly rank: number;
}

/** Rows of one patient to move to another by statement (merge, unlink). */
export interface Move {
	from: string;
	to: string;
	/** `merge` moves everything of `from`; `unlink` only what was recorded under `to` before the merge. */
	reason: 'merge' | 'unlink';
}

/**
 * What a batch has read of one site, and what its messages have made of it so far. Every change is noted, so that a
 * message that fails halfway is undone without a trace.
 */
export class WorkingSet {
	readonly patients = new Map<string, Row>();
	/** By identifier value. */
	readonly identifiers = new Map<string, readonly IdentifierEntry[]>();
	/** By visit key; a visit number belongs to a patient, so one key may hold several. */
	readonly encounters = new Map<string, readonly Row[]>();
	/** By order key, then item key. */
	readonly orders = new Map<string, ReadonlyMap<string, Row>>();
	/** Observations without an order number: always new. */
	readonly unordered = new Map<string, Row>();
	/** Identifiers of the patients whose list changed, to be written anew. */
	readonly patientIdentifiers = new Map<string, readonly PatientIdentifier[]>();
	readonly moves: Move[] = [];

	#undo: (() => void)[] = [];

	/** Runs one message's changes: all of them, or, when it throws, none. */
	attempt<T>(changes: () => T): T {
		this.#undo = [];
		try {
			return changes();
		} catch (error) {
			for (let index = this.#undo.length - 1; index >= 0; index--) this.#undo[index]?.();
			throw error;
		}
	}

	putPatient(row: Row): void {
		this.#put(this.patients, row.id, row);
	}

	/** A patient's whole list of identifiers, before and after; keeps the index by value true to it. */
	putPatientIdentifiers(patientId: string, before: readonly PatientIdentifier[], after: readonly PatientIdentifier[]): void {
		this.#put(this.patientIdentifiers, patientId, after);
		for (const { value } of before)
			this.#put(
				this.identifiers,
				value,
				(this.identifiers.get(value) ?? []).filter((entry) => entry.patientId !== patientId),
			);
		for (const { value, system, old, rank } of after)
			this.#put(this.identifiers, value, [...(this.identifiers.get(value) ?? []), { system, old, rank, patientId }]);
	}

	putEncounter(visitKey: string, row: Row): void {
		const others = (this.encounters.get(visitKey) ?? []).filter((other) => other.id !== row.id);
		this.#put(this.encounters, visitKey, [...others, row]);
	}

	putObservation(orderKey: string, itemKey: string, row: Row): void {
		const items = this.orders.get(orderKey);
		if (items instanceof OrderItems) {
			this.#put(items, itemKey, row);
			return;
		}
		this.#put(this.orders, orderKey, new OrderItems(items).set(itemKey, row));
	}

	putUnordered(row: Row): void {
		this.#put(this.unordered, row.id, row);
	}

	move(move: Move): void {
		this.moves.push(move);
		this.#undo.push(() => this.moves.pop());
	}

	#put<K, V>(map: Map<K, V>, key: K, value: V): void {
		const had = map.has(key);
		const before = map.get(key) as V;
		map.set(key, value);
		this.#undo.push(() => (had ? map.set(key, before) : map.delete(key)));
	}

	/** Every row that the batch made, newest version of each resource. */
	*changed(): Generator<Row> {
		for (const row of this.patients.values()) if (!row.stored) yield row;
		for (const rows of this.encounters.values()) for (const row of rows) if (!row.stored) yield row;
		for (const items of this.orders.values()) for (const row of items.values()) if (!row.stored) yield row;
		yield* this.unordered.values();
	}
}

/** The items of an order as this batch changes them; a copy of what was read. */
class OrderItems extends Map<string, Row> {}
