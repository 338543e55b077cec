import type { Move } from '#record/apply/working-set.ts';
import type { Reading } from './reading.ts';
import type { Writing } from './writing.ts';

/** How a holding of the record is read and written: its statements, and what their rows become. */
export interface StoredHolding {
	/** Reads what the keys lead to. All of these statements are sent at once. */
	read?(reading: Reading): Promise<void>;
	/** Reads what is known only when the keys have been followed. */
	readBehind?(reading: Reading): Promise<void>;
	/** Reads what belongs to patients, when they and whoever replaced them have been read. */
	readOfPatients?(reading: Reading): Promise<void>;
	write?(writing: Writing): void;
	/** Moves what one patient has to another, behind all that the batch writes. */
	move?(writing: Writing, siteId: string, move: Move): void;
}
