import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';

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

/** A longer identifier is kept in the resource and found by no search: no index takes it. */
export const identifierLengthMax = 500;

export interface PatientIdentifier {
	readonly value: string;
	readonly system: string;
	readonly old: boolean;
	readonly rank: number;
}

/** Patients by their identifiers. */
export class PatientIdentifiers {
	readonly #rows: HeldRows;
	readonly #byValue = new Map<string, IdentifierEntry[]>();
	/** Lists of the patients whose list changed, to be written anew, by row id. */
	readonly changed = new Map<string, readonly PatientIdentifier[]>();

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	addStored(value: string, entry: IdentifierEntry): void {
		const held = this.#byValue.get(value);
		if (held) held.push(entry);
		else this.#byValue.set(value, [entry]);
	}

	entries(value: string): readonly IdentifierEntry[] {
		return this.#byValue.get(value) ?? [];
	}

	/** Row ids of every patient that a message under the value may speak of, merged ones and their survivors. */
	patientsOf(value: string): Set<string> {
		const ids = new Set<string>();
		for (const { patientId } of this.entries(value)) {
			let row = this.#rows.row('Patient', patientId);
			while (row !== undefined && !ids.has(row.id)) {
				ids.add(row.id);
				const survivor: unknown = row.links['merged_into'];
				row = typeof survivor === 'string' ? this.#rows.row('Patient', survivor) : undefined;
			}
		}
		return ids;
	}

	/** A patient's whole list, before and after; keeps the index by value true to it. */
	put(patientId: string, before: readonly PatientIdentifier[], after: readonly PatientIdentifier[]): void {
		const { undo } = this.#rows;
		undo.put(this.changed, patientId, after);
		// Lists by value, each made once: one value may stand there under very many systems.
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

/** Its keys are identifier values. */
export const patientIdentifiers: Holding<Set<string>, PatientIdentifiers> = {
	name: 'patient identifiers',
	keys: () => new Set(),
	held: (rows) => new PatientIdentifiers(rows),
};
