import { availableParallelism } from 'node:os';

/** The ingest threads of a process. */
export interface IngestThreads {
	workers: number;
	/** The only worker gets a second thread under load. */
	mayHaveSecondThread: boolean;
}

/**
 * Returns the ingest threads of each process of a node. They leave one processor for the sockets, which need less than a whole one: so on two
 * processors there is room for a second thread.
 */
export function ingestThreadsOf(
	{ WORKERS }: { WORKERS?: number | undefined },
	processes: number,
	cores = availableParallelism(),
): IngestThreads {
	const workers = Math.max(1, Math.round((WORKERS ?? cores - 1) / processes));
	return { workers, mayHaveSecondThread: WORKERS === undefined && processes === 1 && cores === 2 };
}
