import { HeldRows } from './held-rows.ts';
import type { Holding } from './holding.ts';
import type { Row } from './rows.ts';

/** Rows of one patient to move to another by statement (merge, unlink). */
export interface Move {
	from: Pick<Row, 'id' | 'givenId'>;
	to: Pick<Row, 'id' | 'givenId'>;
	/** `merge` moves everything of `from`; `unlink` only what was recorded under `to` before the merge. */
	reason: 'merge' | 'unlink';
}

/**
 * What a batch has read of one site, and what its messages have made of it so far: rows by type, and the holdings. Every change
 * is noted, so that a message that fails halfway is undone without a trace.
 */
export class WorkingSet extends HeldRows {
	readonly moves: Move[] = [];
	readonly #holdings = new Map<Holding<unknown, unknown>, unknown>();

	/** Runs one message's changes: all of them, or, when it throws, none. */
	attempt<T>(changes: () => T): T {
		return this.undo.attempt(changes);
	}

	/** What is held of a holding; empty where nothing was read. */
	of<Held>(holding: Holding<unknown, Held>): Held {
		const known = this.held(holding);
		if (known !== undefined) return known;
		const held = holding.held(this);
		this.#holdings.set(holding, held);
		return held;
	}

	/** What is held of a holding; undefined where nothing was read or made of it. */
	held<Held>(holding: Holding<unknown, Held>): Held | undefined {
		return this.#holdings.get(holding) as Held | undefined;
	}

	move(move: Move): void {
		this.undo.push(this.moves, move);
	}
}
