import type { HeldRows } from './held-rows.ts';

/**
 * Something that a batch holds of a site beside the rows themselves: the keys by which messages name it, and what was read for
 * them and changed since. Storage binds its statements to it (`storage/holdings`).
 */
export interface Holding<Keys, Held> {
	readonly name: string;
	/** Makes the keys of a site that names nothing yet. */
	keys(): Keys;
	/** Makes what is held of a site of which nothing was read yet. Its changes go to the undo log of the rows. */
	held(rows: HeldRows): Held;
}

/** A holding of which nothing is read before it is changed. */
export const noKeys = () => undefined;
