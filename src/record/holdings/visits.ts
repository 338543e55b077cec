import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import { RowIndex } from '../apply/row-index.ts';
import type { Row } from '../apply/rows.ts';
import { keyDigest } from '../key-digest.ts';

export function visitKey(visit: { system?: string; value: string }): string {
	return keyDigest(`${visit.system ?? ''}|${visit.value}`);
}

/** Encounters by visit number. A number belongs to a patient, so several patients may have the same one. */
export class Visits {
	readonly #index: RowIndex;

	constructor(rows: HeldRows) {
		this.#index = new RowIndex(rows);
	}

	addStored(key: string, row: Row): void {
		this.#index.addStored(key, row);
	}

	of(key: string): Row[] {
		return this.#index.of('Encounter', key);
	}

	put(key: string, row: Row): void {
		this.#index.put(key, row);
	}
}

/** The visits of patients, for events that name none. The keys are identifier values of the patients; the visits stand among the rows. */
export const openVisits: Holding<string[], undefined> = {
	name: 'open-visits',
	keys: () => [],
	held: () => undefined,
};

/** The system of a visit that is named by the time of its admission alone. The space, which no authority's URI has, keeps it apart. */
export const admissionSystem = 'PV1-44 ';

export interface UnknownVisit {
	key: string;
	namedBy: 'number' | 'time';
	/** The identifier values of its patient. */
	patients: readonly string[];
}

/**
 * Visits that may be known by another name. Open visits of the patient are read then: those without a number when the message has one, all
 * when it has only the time of admission.
 */
export const unknownVisits: Holding<UnknownVisit[], undefined> = {
	name: 'unknown-visits',
	keys: () => [],
	held: () => undefined,
};

/** Encounters; the keys are made by `visitKey`. */
export const visits: Holding<Set<string>, Visits> = {
	name: 'visits',
	keys: () => new Set(),
	held: (rows) => new Visits(rows),
};
