import { HeldRows } from './held-rows.ts';
import type { Holding } from './holding.ts';
import type { Row } from './rows.ts';

/** Rows of one patient to move to another by statement (merge, unlink). */
export interface Move {
	from: Pick<Row, 'id' | 'givenId'>;
	to: Pick<Row, 'id' | 'givenId'>;
	/** `merge` moves every row of `from`; `unlink` moves only rows that were recorded under `to` before the merge. */
	reason: 'merge' | 'unlink';
}

/** A resource that a client recorded under a merged patient, by the row id of that patient. It belongs to the survivor. */
export interface Recording {
	row: Pick<Row, 'resourceType' | 'id'>;
	patientId: string;
}

/**
 * The data that a batch has read of one site, with the changes of its messages so far: rows by type, and the holdings. Every change is
 * noted, so that a message that fails halfway is undone completely.
 */
export class WorkingSet extends HeldRows {
	readonly moves: Move[] = [];
	readonly recordings: Recording[] = [];
	readonly #holdings = new Map<Holding<unknown, unknown>, unknown>();

	/** Runs one message's changes. When it throws, none of them stays. */
	attempt<T>(changes: () => T): T {
		return this.undo.attempt(changes);
	}

	/** Returns the data of a holding; empty when nothing was read. */
	of<Held>(holding: Holding<unknown, Held>): Held {
		const known = this.held(holding);
		if (known !== undefined) return known;
		const held = holding.held(this);
		this.#holdings.set(holding, held);
		return held;
	}

	/** Returns the data of a holding; undefined when nothing of it was read or made. */
	held<Held>(holding: Holding<unknown, Held>): Held | undefined {
		return this.#holdings.get(holding) as Held | undefined;
	}

	move(move: Move): void {
		this.undo.push(this.moves, move);
	}

	record(recording: Recording): void {
		this.undo.push(this.recordings, recording);
	}
}
