import type { HeldRows } from '../apply/held-rows.ts';
import { type Holding, noKeys } from '../apply/holding.ts';
import type { DoubtKind } from '../identity/doubt-kinds.ts';

/** A message that raised a doubt. */
export interface DoubtOccurrence {
	readonly messageId: string;
	readonly surface: string;
	/** FHIR instant. */
	readonly at: string;
}

export interface RecordedDoubt {
	readonly id: string;
	readonly kind: DoubtKind;
	/** Digest of what makes it the same doubt. */
	readonly key: string;
	readonly text: string;
	readonly patientId: string | null;
	readonly otherPatientId: string | null;
	readonly studyUid: string | null;
	readonly first: DoubtOccurrence;
	readonly last: DoubtOccurrence;
	/** How often the batch raised it. */
	readonly count: number;
}

/** Names the doubts that a change has mended: by key, by study, or by a pair of patients in either order. */
export interface SettledDoubts {
	readonly key: string | null;
	readonly studyUid: string | null;
	readonly patientId: string | null;
	readonly otherPatientId: string | null;
	/** Settled only if no image of the study that names this patient is still kept aside. */
	readonly unlessAside: { readonly studyUid: string; readonly id: string; readonly system: string } | null;
	readonly how: string;
	readonly by: string;
	/** FHIR instant. */
	readonly at: string;
}

/** Doubts about who a patient is. They are written without being read: the database counts those that it has. */
export class IdentityDoubts {
	readonly #rows: HeldRows;
	/** They are kept by key, because a statement takes each of them once. */
	readonly recorded = new Map<string, RecordedDoubt>();
	readonly settled: SettledDoubts[] = [];

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	record(doubt: RecordedDoubt): void {
		const held = this.recorded.get(doubt.key);
		const { id, first, count } = held ?? { ...doubt, count: 0 };
		this.#rows.undo.put(this.recorded, doubt.key, { ...doubt, id, first, count: count + doubt.count });
	}

	/** Notes doubts to settle. They are settled behind the writing of those that the batch raises. */
	settle(settled: SettledDoubts): void {
		this.#rows.undo.push(this.settled, settled);
	}
}

export const identityDoubts: Holding<undefined, IdentityDoubts> = {
	name: 'identity doubts',
	keys: noKeys,
	held: (rows) => new IdentityDoubts(rows),
};
