import { createReadStream, existsSync, rmSync } from 'node:fs';
import type { Sampling } from '#core/exposition.ts';
import { Failure } from '#core/failure.ts';
import { isUuid, newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { Quotas } from '#core/node-line.ts';
import type { Place } from '#core/place.ts';
import { RepeatedTrouble } from '#core/repeated.ts';
import { takeShares } from '#core/take-shares.ts';
import { type Stoppable, systemTimers } from '#core/timers.ts';
import { BulkJobTable, type BulkKind, type BulkState, type JobKey, type StoredJob } from '#storage/bulk-jobs.ts';
import type { Database } from '#storage/database.ts';
import { BulkDirectory, bodyOf, fileOf } from './directory.ts';
import { ExportJob, type ExportParameters } from './export-job.ts';
import { ImportJob, type ImportParameters } from './import-job.ts';
import type { JobEnd, LocalJob } from './local-job.ts';
import type { BulkMetrics } from './metrics.ts';
import { LineIndex, spool } from './spool.ts';
import { BulkThreads } from './threads.ts';
import type { BulkWorkerSettings } from './worker.ts';

export interface BulkOptions {
	dataDir: string;
	place: Place;
	/** How many jobs the node carries out at once is its limit, not that of each of its processes. */
	quotas: Quotas;
	database: Database;
	/** The worker's entry file. */
	worker: URL;
	/** The largest number of threads. They end when there is nothing to do. */
	workers: number;
	logLevel: string;
	limits: BulkWorkerSettings['limits'];
	metrics: BulkMetrics & Sampling;
	log: Log;
}

/** The caller of a job, and their request. */
export interface JobCaller {
	siteId: string;
	/** Public id of the API key. */
	keyId: string;
	/** The sender's address. */
	source: string;
	/** The URL of the request. */
	request: string;
}

/** The interval at which a node reports that its jobs go on. */
const beatMs = 1000;
/** A node that has not reported for this long does not come back. */
const silentMsMax = 120_000;
/** Files of expired jobs are removed this often. A caller is answered by the time of expiry, not by this. */
const sweepMs = 60_000;
/** Jobs that have not ended by then are cut off, and count as interrupted. */
const closeMsMax = 10_000;
/** A buffer size. */
const fileChunkBytes = 256 * 1024;

/** Each running job takes one of these. */
const quota = 'bulk jobs';
/** Beside it, each takes one of those of its site. */
const quotaOf = (siteId: string) => `${quota} of ${siteId}`;
const boundTexts = {
	'under-way': 'too many exports and imports of this site are running',
	'key-under-way': 'too many exports and imports of this key are running',
	kept: 'too many finished exports and imports of this site are kept; delete one at its status URL',
} as const;
/** A process whose jobs had to wait for those of others looks again this often. */
const lookMs = 1000;

/**
 * Exports and imports of whole sites. A job belongs to the process that received the request, which carries it out; its node has the files.
 * Every node can report its progress. A job does not outlive its process: it is then interrupted.
 */
export class BulkJobs {
	readonly #options: BulkOptions;
	readonly #directory: BulkDirectory;
	/** The ids of the processes of this node, by their places. */
	readonly #processIds: readonly string[];
	/** Folders that no row named when they were last looked at. */
	#unknown = new Set<string>();
	readonly #table: BulkJobTable;
	readonly #threads: BulkThreads;
	readonly #receiving = new Set<JobKey>();
	readonly #waiting: LocalJob[] = [];
	readonly #running = new Map<LocalJob, Promise<void>>();
	/** Settles with the last look for a job that may run. One follows the other, because each takes and gives back shares. */
	#starting: Promise<void> = Promise.resolve();
	#timers: Stoppable[] = [];
	#closed = false;

	private constructor(options: BulkOptions) {
		const { dataDir, database, worker, workers, limits, logLevel, metrics } = options;
		this.#options = options;
		this.#directory = new BulkDirectory(dataDir);
		this.#processIds = this.#directory.processIds();
		this.#table = new BulkJobTable(database.journal);
		const settings = { databaseUrl: database.url, limits, logLevel };
		this.#threads = new BulkThreads({ worker, workers, settings, log: options.log });
		metrics.beforeCollect(() => metrics.bulkWaiting.set(this.#waiting.length));
	}

	/** @throws Error if the database cannot be read at the start */
	static async open(options: BulkOptions): Promise<BulkJobs> {
		const jobs = new BulkJobs(options);
		try {
			await jobs.#start();
		} catch (error) {
			await jobs.close();
			throw error;
		}
		return jobs;
	}

	async #start(): Promise<void> {
		const { log, place } = this.#options;
		// Jobs that other processes of the node carry out at this moment are theirs.
		const interrupted = await this.#table.interruptOf(place.opensNode ? this.#processIds : [this.#processId]);
		if (interrupted.length > 0) log.warn({ jobs: interrupted.length }, 'exports and imports were interrupted when the service ended');
		for (const { kind, id } of this.#directory.jobs()) {
			if (kind === 'import' && (place.opensNode || interrupted.includes(id))) rmSync(bodyOf(this.#directory.of(kind, id)), { force: true });
		}
		await this.#sweep(place.opensNode);
		// The jobs of other processes make room without a word.
		if (place.count > 1) this.#timers.push(systemTimers.every(lookMs, () => this.#startNext()));
		this.#every(beatMs, () => this.#beat(), 'the progress of exports and imports could not be recorded');
		this.#every(
			Math.min(sweepMs, this.#options.limits.bulkAgeMsMax),
			() => this.#sweep(this.#options.place.count === 1),
			'old exports and imports could not be removed',
		);
	}

	#every(ms: number, work: () => Promise<void>, complaint: string): void {
		let isBusy = false;
		const trouble = new RepeatedTrouble(this.#options.log, complaint);
		const act = async () => {
			if (isBusy) return;
			isBusy = true;
			try {
				await work();
				trouble.over();
			} catch (error) {
				if (!this.#closed) trouble.happened(error);
			}
			isBusy = false;
		};
		this.#timers.push(systemTimers.every(ms, () => void act()));
	}

	/** Reports to the table that jobs go on, and stops jobs that must not. */
	async #beat(): Promise<void> {
		for (const key of this.#receiving) await this.#table.advance(key, 'receiving', '');
		for (const job of [...this.#waiting]) {
			if (!(await this.#table.advance(job.key, 'waiting', job.progress()))) this.#drop(job);
		}
		for (const job of [...this.#running.keys()]) {
			if (!(await this.#table.advance(job.key, 'running', job.progress()))) job.stop();
		}
	}

	/** Deletes old jobs, and the files of jobs that no longer exist. `isOwner`: no other process of the node has jobs under way. */
	async #sweep(isOwner: boolean): Promise<void> {
		await this.#table.sweep({ ageMs: this.#options.limits.bulkAgeMsMax, silentMs: silentMsMax });
		const known = await this.#table.idsOf(this.#processIds);
		const running = new Set([...this.#running.keys()].map(({ key }) => key.id));
		const unknown = new Set<string>();
		for (const { kind, id } of this.#directory.jobs()) {
			if (known.has(id) || running.has(id)) continue;
			// A process stops a job, and removes its files, soon after its row is gone.
			if (isOwner || this.#unknown.has(id)) this.#directory.remove(kind, id);
			else unknown.add(id);
		}
		this.#unknown = unknown;
	}

	/** The id of this process. */
	get #processId(): string {
		const id = this.#processIds[this.#options.place.index];
		if (id === undefined) throw new Error('the node has more processes than PROCESSES may be');
		return id;
	}

	/** @throws Failure `too-many-requests` */
	async startExport(caller: JobCaller, parameters: ExportParameters): Promise<string> {
		const key = await this.#note(caller, 'export', 'waiting', parameters);
		const directory = this.#directory.create('export', key.id);
		this.#enqueue(new ExportJob(key, directory, parameters, { pool: this.#threads.exports, metrics: this.#options.metrics }));
		return key.id;
	}

	/**
	 * Receives the body of an import, which is carried out when the whole body has arrived.
	 * @throws Failure `too-many-requests`, `unavailable`, or the error of the body
	 */
	async receiveImport(caller: JobCaller, parameters: ImportParameters, body: AsyncIterable<Uint8Array>): Promise<string> {
		const { limits, metrics, log, workers } = this.#options;
		const key = await this.#note(caller, 'import', 'receiving', parameters);
		this.#receiving.add(key);
		const directory = this.#directory.create('import', key.id);
		const index = new LineIndex(limits);
		try {
			await spool(bodyOf(directory), body, index, (bytes) => metrics.bulkBytes.inc({ kind: 'import' }, bytes));
		} catch (error) {
			this.#directory.remove('import', key.id);
			await this.#table.delete(key);
			throw error;
		} finally {
			this.#receiving.delete(key);
		}
		const means = { threads: this.#threads, window: workers + 1, table: this.#table, limits, metrics, log };
		this.#enqueue(new ImportJob(key, directory, index, parameters, means));
		return key.id;
	}

	async #note({ siteId, ...caller }: JobCaller, kind: BulkKind, state: BulkState, parameters: object): Promise<JobKey> {
		if (this.#closed) throw new Failure('unavailable', 'the service is shutting down', { retryAfterSeconds: 5 });
		const { bulkUnderWayMax, bulkKeyUnderWayMax, bulkKeptMax } = this.#options.limits;
		const key = { siteId, id: newId() };
		const job = { ...key, ...caller, kind, state, nodeId: this.#processId, parameters };
		const bound = await this.#table.insert(job, {
			underWayMax: bulkUnderWayMax,
			keptMax: bulkKeptMax,
			keyUnderWayMax: bulkKeyUnderWayMax,
		});
		if (bound === undefined) return key;
		this.#options.metrics.bulkRefusals.inc({ bound });
		throw new Failure('too-many-requests', boundTexts[bound], { retryAfterSeconds: bound === 'kept' ? 3600 : 10 });
	}

	#enqueue(job: LocalJob): void {
		this.#waiting.push(job);
		this.#startNext();
	}

	#startNext(): void {
		this.#starting = this.#starting.then(() => this.#startAll());
	}

	/** Starts the jobs that wait, in their order, as far as the node has room. A site that has its share leaves the room to those behind it. */
	async #startAll(): Promise<void> {
		const { quotas, limits } = this.#options;
		for (const job of [...this.#waiting]) {
			const shares = [
				{ by: 'site' as const, name: quotaOf(job.key.siteId), most: limits.bulkSiteRunningMax },
				{ by: 'node' as const, name: quota, most: limits.bulkRunningMax },
			];
			const full = await takeShares(quotas, shares);
			if (full === 'node') return;
			if (full === 'site') continue;
			const give = () => {
				for (const { name } of shares) quotas.give(name);
			};
			const place = this.#closed ? -1 : this.#waiting.indexOf(job);
			if (place === -1) give();
			else this.#run(job, place, give);
		}
	}

	#run(job: LocalJob, place: number, give: () => void): void {
		this.#waiting.splice(place, 1);
		const ended = this.#carryOut(job).finally(() => {
			this.#running.delete(job);
			give();
			this.#startNext();
		});
		this.#running.set(job, ended);
	}

	async #carryOut(job: LocalJob): Promise<void> {
		const { metrics, log } = this.#options;
		metrics.bulkRunning.inc({ kind: job.kind });
		try {
			const isWanted = await this.#table.advance(job.key, 'running', job.progress());
			const end: JobEnd = isWanted ? await job.carryOut() : { state: 'stopped' };
			metrics.bulkJobs.inc({ kind: job.kind, outcome: end.state });
			await this.#finish(job, end);
		} catch (error) {
			metrics.bulkJobs.inc({ kind: job.kind, outcome: 'failed' });
			log.error({ err: error, jobId: job.key.id }, `an ${job.kind} failed`);
			await this.#finish(job, { state: 'failed', failure: `the ${job.kind} failed because of an internal error` });
		} finally {
			metrics.bulkRunning.dec({ kind: job.kind });
		}
	}

	/** Ends a job. While the database is away, the end is held back. */
	async #finish(job: LocalJob, end: JobEnd): Promise<void> {
		if (job.kind === 'import') rmSync(bodyOf(this.#directory.of('import', job.key.id)), { force: true });
		if (end.state === 'stopped') {
			if (!this.#closed) this.#directory.remove(job.kind, job.key.id);
			return;
		}
		for (;;) {
			try {
				const isNoted = await this.#table.finish(job.key, { progress: job.progress(), ...end });
				if (!isNoted) this.#directory.remove(job.kind, job.key.id);
				return;
			} catch (error) {
				this.#options.log.warn({ err: error, jobId: job.key.id }, `the end of an ${job.kind} could not be recorded`);
				if (this.#closed) return;
				await new Promise((resolve) => setTimeout(resolve, beatMs));
			}
		}
	}

	/** Drops a job before its turn, because nobody waits for it any more. */
	#drop(job: LocalJob): void {
		this.#waiting.splice(this.#waiting.indexOf(job), 1);
		this.#directory.remove(job.kind, job.key.id);
	}

	/** Returns undefined when the site has no such job. */
	async read(siteId: string, kind: BulkKind, id: string): Promise<StoredJob | undefined> {
		const job = isUuid(id) ? await this.#table.read(siteId, id) : undefined;
		if (job?.kind !== kind) return undefined;
		const here = [...this.#running.keys()].find(({ key }) => key.id === id);
		return here && job.state === 'running' ? { ...job, progress: here.progress() } : job;
	}

	/** Cancels a job that is under way, or deletes one that has ended. Returns false when the site has no such job. */
	async delete(caller: JobCaller, kind: BulkKind, id: string): Promise<boolean> {
		const key = { siteId: caller.siteId, id };
		const job = await this.read(key.siteId, kind, id);
		if (job === undefined) return false;
		await this.#table.audit(key, { action: `bulk.${kind}.delete`, keyId: caller.keyId, source: caller.source });
		if (!(await this.#table.delete(key))) return false;
		const waiting = this.#waiting.find((job) => job.key.id === id);
		const running = [...this.#running.keys()].find((job) => job.key.id === id);
		if (waiting) this.#drop(waiting);
		else if (running) running.stop();
		// Another process that carries it out stops when it misses the row, and removes the files.
		else if (job.nodeId === this.#processId || job.finishedAtMs !== undefined) this.#directory.remove(kind, id);
		return true;
	}

	/**
	 * Returns the content of a file of a job that has ended. Undefined when the job has none of this type.
	 * @throws Failure `unavailable` when another node has it
	 */
	async open(caller: JobCaller, job: StoredJob, type: string): Promise<AsyncIterable<Uint8Array> | undefined> {
		const path = fileOf(this.#directory.of(job.kind, job.id), type);
		if (!/^[A-Za-z]+$/.test(type)) return undefined;
		if (!existsSync(path)) {
			if (this.#processIds.includes(job.nodeId)) return undefined;
			throw new Failure('unavailable', 'another node of this service has the file', { retryAfterSeconds: 1 });
		}
		await this.#table.audit(job, { action: `bulk.${job.kind}.read`, keyId: caller.keyId, source: caller.source });
		return contentOf(path);
	}

	/** Ends the jobs under way, which are then interrupted. */
	async close(): Promise<void> {
		this.#closed = true;
		for (const timer of this.#timers) timer.stop();
		const ended = [...this.#running].map(([job, end]) => {
			job.stop();
			return end;
		});
		const late = new Promise((resolve) => setTimeout(resolve, closeMsMax).unref());
		await Promise.race([Promise.allSettled(ended), late]);
		await this.#threads.close();
		try {
			await this.#table.interruptOf([this.#processId]);
		} catch (error) {
			// The next start notes them.
			this.#options.log.warn({ err: error }, 'interrupted exports and imports could not be recorded');
		}
	}
}

/** Reads a file, which is opened only when it is read. */
async function* contentOf(path: string): AsyncIterable<Uint8Array> {
	yield* createReadStream(path, { highWaterMark: fileChunkBytes });
}
