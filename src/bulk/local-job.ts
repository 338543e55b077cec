import type { BulkKind, JobKey } from '#storage/bulk-jobs.ts';

/** The end of a job. `stopped` means that it was cancelled, or that its node ends. */
export type JobEnd = { state: 'done'; result: object } | { state: 'failed'; failure: string; result?: object } | { state: 'stopped' };

/** A job that this node carries out. */
export interface LocalJob {
	readonly kind: BulkKind;
	readonly key: JobKey;
	/** Describes its progress in words for its client. */
	progress(): string;
	/** Carries the job out. It is called once, when its turn comes. */
	carryOut(): Promise<JobEnd>;
	/** Asks the job to end soon; `carryOut` then returns `stopped`. */
	stop(): void;
}
