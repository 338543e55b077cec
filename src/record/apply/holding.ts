import type { HeldRows } from './held-rows.ts';

/**
 * Data of a site that a batch holds beside the rows: the keys by which messages name it, and the entries that were read and changed.
 * Storage binds its statements to it (`storage/holdings`).
 */
export interface Holding<Keys, Held> {
	readonly name: string;
	/** Creates the empty keys of a site. */
	keys(): Keys;
	/** Creates the empty data of a site. Changes to it go to the undo log of the rows. */
	held(rows: HeldRows): Held;
}

/** Returns the keys of a holding that needs no reading before it is changed. */
export const noKeys = () => undefined;
