import { type Stoppable, systemTimers, type Timers } from '#core/timers.ts';
import type { Reader } from './reader.ts';

/** A connection that was lost or could not be opened is tried again this often, whether or not somebody reads. */
const retryMs = 5000;

/**
 * Opens the connections for reads before anybody reads, and keeps them open. A database that gives out no more connections then fails no
 * read: what is open goes on.
 */
export async function keepReads(readers: readonly Pick<Reader, 'openAll'>[], timers: Timers = systemTimers): Promise<Stoppable> {
	const openAll = () => Promise.all(readers.map((reader) => reader.openAll()));
	await openAll();
	return timers.every(retryMs, () => void openAll());
}
