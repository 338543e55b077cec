/** The place of a piece of work that is done for all messages of a batch together. */
export const wholeBatch = -1;

/**
 * A batch notes here what it works on, for whoever watches over its processor time. It awaits nothing between `begin` and `end`.
 */
export interface BatchNotes {
	/** Begins a piece of work for one message, by its place in the batch, or for all of them. */
	begin(index?: number): void;
	end(): void;
	/** Some messages of the batch may be stored from now on. */
	committing(): void;
}

/** Nobody watches. */
export const noNotes: BatchNotes = { begin: () => undefined, end: () => undefined, committing: () => undefined };
