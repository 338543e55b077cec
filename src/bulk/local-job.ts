import type { BulkKind, JobKey } from '#storage/bulk-jobs.ts';

/** How a job ended. `stopped`: it was cancelled, or its node ends. */
export type JobEnd = { state: 'done'; result: object } | { state: 'failed'; failure: string; result?: object } | { state: 'stopped' };

/** A job that this node carries out. */
export interface LocalJob {
	readonly kind: BulkKind;
	readonly key: JobKey;
	/** How far it is, in words for its client. */
	progress(): string;
	/** Called once, when it is its turn. */
	carryOut(): Promise<JobEnd>;
	/** It is to end soon; `carryOut` then answers `stopped`. */
	stop(): void;
}
