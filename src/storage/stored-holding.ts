import type { Move } from '#record/apply/working-set.ts';
import type { Reading } from './reading.ts';
import type { Writing } from './writing.ts';

/** Reads and writes a holding of the record: its statements, and the conversion of their rows. */
export interface StoredHolding {
	/** Reads the rows of the keys. All of these statements are sent at once. */
	read?(reading: Reading): Promise<void>;
	/** Reads rows that are known only after the rows of the keys are read. */
	readBehind?(reading: Reading): Promise<void>;
	/** Reads rows that belong to patients, after the patients and their survivors are read. */
	readOfPatients?(reading: Reading): Promise<void>;
	write?(writing: Writing): void;
	/** Moves the rows of one patient to another, after everything that the batch writes. */
	move?(writing: Writing, siteId: string, move: Move): void;
}
