import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';

/** An entry of `patient_identifier` for an identifier value. */
export interface IdentifierEntry {
	readonly system: string;
	readonly patientId: string;
	readonly old: boolean;
	/** 0 is the business identifier. */
	readonly rank: number;
}

/** The rank of an account, licence or social security number. Searches find it, but it does not identify the patient of a message. */
export const otherNumberRank = 10_000;

/**
 * A patient is listed with so many others that have its number. A client that creates the same patient again and again would otherwise list each with
 * all before it, and each would take longer than the one before.
 */
export const othersListedMax = 8;

/** A longer identifier is kept in the resource but no search finds it, because no index can hold it. */
export const identifierLengthMax = 500;

export interface PatientIdentifier {
	readonly value: string;
	readonly system: string;
	readonly old: boolean;
	readonly rank: number;
}

/** The message that states numbers of a patient. */
export interface Claim {
	readonly id: string;
	readonly surface: string;
}

/** Patients by their identifiers. */
export class PatientIdentifiers {
	readonly #rows: HeldRows;
	readonly #byValue = new Map<string, IdentifierEntry[]>();
	/** Changed lists of identifiers, by the row id of the patient. They are written anew. */
	readonly changed = new Map<string, readonly PatientIdentifier[]>();

	/** Patients whose numbers a client stated without their being looked up, with the message. Storage lists those that others have. */
	readonly claimed = new Map<string, Claim>();

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	claim(patientId: string, message: Claim): void {
		this.#rows.undo.put(this.claimed, patientId, message);
	}

	addStored(value: string, entry: IdentifierEntry): void {
		const held = this.#byValue.get(value);
		if (held) held.push(entry);
		else this.#byValue.set(value, [entry]);
	}

	entries(value: string): readonly IdentifierEntry[] {
		return this.#byValue.get(value) ?? [];
	}

	/** Returns the row ids of every patient that a message under the values may mean, including merged ones and their survivors. */
	patientsOf(values: readonly string[]): Set<string> {
		const ids = new Set<string>();
		for (const { patientId } of values.flatMap((value) => this.entries(value))) {
			let row = this.#rows.row('Patient', patientId);
			while (row !== undefined && !ids.has(row.id)) {
				ids.add(row.id);
				const survivor: unknown = row.links['merged_into'];
				row = typeof survivor === 'string' ? this.#rows.row('Patient', survivor) : undefined;
			}
		}
		return ids;
	}

	/** Replaces a patient's whole list and updates the index by value. */
	put(patientId: string, before: readonly PatientIdentifier[], after: readonly PatientIdentifier[]): void {
		const { undo } = this.#rows;
		undo.put(this.changed, patientId, after);
		// Each list is made once, because one value may occur under very many systems.
		const lists = new Map<string, IdentifierEntry[]>();
		for (const { value } of before) {
			if (!lists.has(value))
				lists.set(
					value,
					this.entries(value).filter((entry) => entry.patientId !== patientId),
				);
		}
		for (const { value, system, old, rank } of after) {
			const list = lists.get(value) ?? [...this.entries(value)];
			list.push({ system, old, rank, patientId });
			lists.set(value, list);
		}
		for (const [value, list] of lists) undo.put(this.#byValue, value, list);
	}
}

/** Patients by identifiers; the keys are identifier values. */
export const patientIdentifiers: Holding<Set<string>, PatientIdentifiers> = {
	name: 'patient identifiers',
	keys: () => new Set(),
	held: (rows) => new PatientIdentifiers(rows),
};
