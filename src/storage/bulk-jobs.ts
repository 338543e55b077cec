import { newId } from '#core/id.ts';
import type { Connection } from './connection.ts';
import { checkPatients } from './import-rows.ts';
import { textArray } from './statement.ts';
import { deleteOldJobs, interruptJobsOfNode, interruptSilentJobs, listJobsOfNode } from './statements/administrative/bulk-jobs.ts';
import { advanceJob, auditJob, deleteJob, finishJob, insertJob, readJob } from './statements/bulk-job.ts';

export type BulkKind = 'export' | 'import';
export type BulkState = 'receiving' | 'waiting' | 'running' | 'done' | 'failed' | 'interrupted';

/** Identifies a job and its site. */
export interface JobKey {
	siteId: string;
	id: string;
}

export interface NewJob extends JobKey {
	kind: BulkKind;
	state: BulkState;
	nodeId: string;
	/** Public id of the API key that asks. */
	keyId: string;
	/** The URL that was asked for. */
	request: string;
	parameters: object;
	/** The sender's address. */
	source: string;
}

export interface StoredJob extends JobKey {
	kind: BulkKind;
	state: BulkState;
	nodeId: string;
	/** Public id of the API key that asked, or of the client of an access token. */
	keyId: string;
	request: string;
	parameters: Record<string, unknown>;
	/** The number of import lines that are settled and committed. */
	position: number;
	progress: string;
	/** The result that `finish` was given. */
	result: Record<string, unknown> | undefined;
	failure: string | undefined;
	finishedAtMs: number | undefined;
}

/** The table of exports and imports. While the database is away, every call fails as a statement does. */
export class BulkJobTable {
	readonly #connection: Connection;

	constructor(connection: Connection) {
		this.#connection = connection;
	}

	/** Inserts a job. Returns the bound that kept it out; undefined when it was inserted. */
	async insert(
		job: NewJob,
		bounds: { underWayMax: number; keptMax: number; keyUnderWayMax: number },
	): Promise<'under-way' | 'key-under-way' | 'kept' | undefined> {
		const { siteId, id, kind, state, nodeId, keyId, request, parameters, source } = job;
		const [row] = await this.#connection.runOpened(insertJob, [
			siteId,
			id,
			kind,
			state,
			nodeId,
			keyId,
			request,
			JSON.stringify(parameters),
			bounds.underWayMax,
			bounds.keptMax,
			newId(),
			source,
			bounds.keyUnderWayMax,
		]);
		if (row?.[2] === 't') return undefined;
		if (Number(row?.[0]) >= bounds.underWayMax) return 'under-way';
		return Number(row?.[3]) >= bounds.keyUnderWayMax ? 'key-under-way' : 'kept';
	}

	async read(siteId: string, id: string): Promise<StoredJob | undefined> {
		const [row] = await this.#connection.runOpened(readJob, [siteId, id]);
		if (row === undefined) return undefined;
		const [kind, state, nodeId, keyId, request, parameters, position, progress, result, failure, finishedAt] = row;
		return {
			siteId,
			id,
			kind: kind as BulkKind,
			state: state as BulkState,
			nodeId: nodeId as string,
			keyId: keyId as string,
			request: request as string,
			parameters: JSON.parse(parameters as string),
			position: Number(position),
			progress: progress as string,
			result: result ? JSON.parse(result) : undefined,
			failure: failure ?? undefined,
			finishedAtMs: finishedAt ? Number(finishedAt) : undefined,
		};
	}

	/** Returns false when the job must no longer be carried out. */
	async advance({ siteId, id }: JobKey, state: BulkState, progress: string): Promise<boolean> {
		return (await this.#connection.runOpened(advanceJob, [siteId, id, state, progress])).length > 0;
	}

	/** Returns false when the job had been cancelled. */
	async finish({ siteId, id }: JobKey, end: { state: BulkState; progress: string; result?: object; failure?: string }): Promise<boolean> {
		const result = end.result === undefined ? null : JSON.stringify(end.result);
		return (await this.#connection.runOpened(finishJob, [siteId, id, end.state, end.progress, result, end.failure ?? null])).length > 0;
	}

	/** Returns false when the site has no such job. */
	async delete({ siteId, id }: JobKey): Promise<boolean> {
		return (await this.#connection.runOpened(deleteJob, [siteId, id])).length > 0;
	}

	async audit({ siteId, id }: JobKey, event: { action: string; keyId: string; source: string }): Promise<void> {
		await this.#connection.runOpened(auditJob, [siteId, newId(), event.keyId, event.action, id, event.source]);
	}

	/** Marks the jobs that the processes left under way when they ended; returns their ids. */
	async interruptOf(processIds: readonly string[]): Promise<string[]> {
		return (await this.#connection.runOpened(interruptJobsOfNode, [textArray(processIds)])).map(([id]) => id as string);
	}

	/** Deletes finished jobs after `ageMs`, and marks those of nodes that have been silent for `silentMs`. */
	async sweep({ ageMs, silentMs }: { ageMs: number; silentMs: number }): Promise<void> {
		await this.#connection.runOpened(interruptSilentJobs, [silentMs / 1000]);
		await this.#connection.runOpened(deleteOldJobs, [ageMs / 1000]);
	}

	/** Returns the row ids that belong to no patient of the site. */
	async missingPatients(siteId: string, rowIds: readonly string[]): Promise<Set<string>> {
		await this.#connection.open();
		return (await checkPatients(this.#connection, siteId, rowIds)).missing;
	}

	async idsOf(processIds: readonly string[]): Promise<Set<string>> {
		return new Set((await this.#connection.runOpened(listJobsOfNode, [textArray(processIds)])).map(([id]) => id as string));
	}
}
