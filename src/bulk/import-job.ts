import { appendFile } from 'node:fs/promises';
import { MessageChannel } from 'node:worker_threads';
import type { Log } from '#core/log.ts';
import type { SettingValue } from '#record/settings/settings.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { BulkJobTable, JobKey } from '#storage/bulk-jobs.ts';
import { bodyOf, fileOf } from './directory.ts';
import type { BulkLimits } from './limits.ts';
import type { JobEnd, LocalJob } from './local-job.ts';
import type { BulkMetrics } from './metrics.ts';
import type { LineIndex } from './spool.ts';
import {
	checksOwnProfiles,
	type Go,
	type ImportResult,
	type ImportTask,
	type LineRange,
	type TypeCounts,
	type WaitingLine,
} from './task.ts';
import { type BulkThreads, type ImportThreads, ThreadsEnded } from './threads.ts';
import { survivorsOf } from './waiting.ts';

export interface ImportParameters {
	/** True when a Patient in a reference must exist. */
	checkReferences: boolean;
	/** See FhirPolicy. */
	mergedReferences?: SettingValue<'merged_references'> | undefined;
	/** See LineSettings. */
	reportWrites?: boolean | undefined;
	/** Says how a Patient is treated whose new content is another person's. */
	mismatch: SettingValue<'mismatch'>;
	/** See LineSettings. */
	profiles: SettingValue<'profiles'>;
	/** See ImportTask. */
	definitionsVersion: string;
	/** FHIR base URL, as the caller used it. */
	base: string;
}

/** The data for the manifest of an import. */
export interface ImportOutcome {
	endedMs: number;
	counts: Partial<Record<ResourceType, TypeCounts>>;
	/** The number of refused lines, each of which has an OperationOutcome. */
	refused: number;
	/** The number of lines, up to IMPORT_REFUSED_MAX, that were stored although they do not conform to the profiles that they claim. */
	warned?: number;
}

interface ImportMeans {
	threads: BulkThreads;
	/** The number of chunks that are with the workers at once. */
	window: number;
	table: BulkJobTable;
	limits: BulkLimits;
	metrics: BulkMetrics;
	log: Log;
}

/** Each of these lines costs a thread and its budget of processor time. Whoever sends more of them has a profile to mend. */
const tooCostlyMax = 20;

type Part = Pick<ImportTask, 'part' | 'expected'>;

/**
 * An import: chunk by chunk, in order, twice over the file. Patients come first, so that the resources about them find them wherever they
 * are. Workers
 * read and check several chunks at once; each is written when the previous one is committed.
 */
export class ImportJob implements LocalJob {
	readonly kind = 'import';
	readonly key: JobKey;
	readonly #directory: string;
	readonly #index: LineIndex;
	readonly #parameters: ImportParameters;
	readonly #means: ImportMeans;
	readonly #outcome: Omit<Required<ImportOutcome>, 'endedMs'> = { counts: {}, refused: 0, warned: 0 };
	/** The number of processed lines. */
	#position = 0;
	#waiting: WaitingLine[] = [];
	#end: JobEnd | undefined;
	#threads: ImportThreads | undefined;
	/** A thread was ended at each of these lines. */
	readonly #tooCostly = new Set<number>();
	readonly #window: number;
	#last: Promise<void> = Promise.resolve();
	readonly #inFlight = new Set<Promise<void>>();

	constructor(key: JobKey, directory: string, index: LineIndex, parameters: ImportParameters, means: ImportMeans) {
		this.key = key;
		this.#directory = directory;
		this.#index = index;
		this.#parameters = parameters;
		this.#means = means;
		// A line of the next chunk may end the thread, and must not take the commit of this one with it.
		this.#window = checksOwnProfiles(parameters) ? 1 : means.window;
	}

	progress(): string {
		return `${this.#position} of ${this.#index.lines} lines`;
	}

	stop(): void {
		this.#end ??= { state: 'stopped' };
		this.#threads?.stop();
	}

	async carryOut(): Promise<JobEnd> {
		const { threads } = this.#means;
		this.#threads = threads.ofImport();
		try {
			return await this.#carryOut();
		} finally {
			threads.giveBack(this.#threads);
			this.#threads = undefined;
		}
	}

	async #carryOut(): Promise<JobEnd> {
		const withOthers: LineRange[] = [];
		const patients: Part = { part: 'patients', expected: undefined };
		await this.#each(
			this.#index.ranges.map((range) => [range]),
			patients,
			(range) => withOthers.push(range),
		);
		await this.#settleWaiting();
		await this.#each(
			withOthers.map((range) => [range]),
			{ part: 'others', expected: undefined },
		);
		return this.#end ?? { state: 'done', result: { ...this.#outcome, endedMs: Date.now() } satisfies ImportOutcome };
	}

	/** Imports patients that refer to one another across chunks, if all their patients exist now or come with them. */
	async #settleWaiting(): Promise<void> {
		const waiting = this.#waiting;
		if (this.#end || waiting.length === 0) return;
		const named = new Set(waiting.flatMap(({ missing }) => missing));
		const expected = survivorsOf(waiting, await this.#means.table.missingPatients(this.key.siteId, [...named]));
		const chunks: LineRange[][] = [];
		for (let at = 0; at < waiting.length; at += this.#means.limits.importChunkLinesMax) {
			chunks.push(waiting.slice(at, at + this.#means.limits.importChunkLinesMax).map(({ range }) => range));
		}
		await this.#each(chunks, { part: 'patients', expected: [...expected] });
	}

	async #each(chunks: readonly LineRange[][], part: Part, onOthers: (range: LineRange) => void = () => undefined): Promise<void> {
		for (const ranges of chunks) {
			while (this.#inFlight.size >= this.#window) await Promise.race(this.#inFlight);
			if (this.#end) break;
			const running = this.#submit(ranges, part, () => ranges.forEach(onOthers));
			this.#inFlight.add(running);
			void running.finally(() => this.#inFlight.delete(running));
		}
		await Promise.all(this.#inFlight);
	}

	/** Resolves when the chunk is processed or the import has ended. */
	#submit(ranges: LineRange[], part: Part, onOthers: () => void): Promise<void> {
		this.#last = this.#settled({ ranges, ...part }, this.#last)
			.then(async (result) => {
				if (result.kind === 'settled' && result.hasOthers) onOthers();
				await this.#take(result);
			})
			.catch((error) => {
				if (this.#end) return;
				this.#means.log.error({ err: error, jobId: this.key.id }, 'an import failed');
				this.#fail('the import failed because of an internal error');
			});
		return this.#last;
	}

	/** Has the chunk read and, after the one before it, written. It is given to other threads when those that had it were ended because of a line. */
	async #settled(chunk: Part & Pick<ImportTask, 'ranges'>, before: Promise<void>): Promise<ImportResult> {
		for (;;) {
			if (this.#threads === undefined || this.#end) return { kind: 'stopped' };
			const { port1, port2 } = new MessageChannel();
			const turn = before.then(() => port1.postMessage((this.#end ? 'stop' : 'go') satisfies Go));
			const given = { path: bodyOf(this.#directory), ...chunk, ...this.#parameters, tooCostly: [...this.#tooCostly] };
			try {
				const [result] = await Promise.all([this.#threads.run({ kind: 'import', job: this.key, ...given }, port2), turn]);
				return result;
			} catch (error) {
				if (!(error instanceof ThreadsEnded)) throw error;
				this.#passOver(error);
			} finally {
				port1.close();
			}
		}
	}

	/** The line at which the threads were ended is refused when its chunk is read again. */
	#passOver({ line, isUnsure }: ThreadsEnded): void {
		this.#tooCostly.add(line);
		const why = `line ${line} takes more processor time than is allowed (IMPORT_LINE_CPU_MS_MAX)`;
		if (isUnsure) this.#fail(`${why}, and lines before it were being stored; whether they were is not known`);
		if (this.#tooCostly.size > tooCostlyMax) this.#fail(`${why}, as do ${tooCostlyMax} others`);
	}

	async #take(result: ImportResult): Promise<void> {
		if (result.kind === 'cancelled') this.stop();
		if (result.kind === 'unavailable') this.#fail('the database was not available');
		if (result.kind !== 'settled') return;
		const { lines, counts, refused, outcomes, warned, warnings, waiting } = result;
		this.#position += lines - waiting.length;
		this.#count(counts, refused);
		this.#waiting.push(...waiting);
		if (outcomes.length > 0) await appendFile(fileOf(this.#directory, 'OperationOutcome'), outcomes, { mode: 0o600 });
		const { importRefusedMax } = this.#means.limits;
		// Beyond the number of lines that may be refused, warnings are left out.
		if (warned > 0 && this.#outcome.warned < importRefusedMax) {
			await appendFile(fileOf(this.#directory, 'Warnings'), warnings, { mode: 0o600 });
			this.#outcome.warned += warned;
		}
		if (this.#outcome.refused + this.#waiting.length > importRefusedMax) this.#fail(`more than ${importRefusedMax} lines were refused`);
	}

	#count(counts: ImportOutcome['counts'], refused: number): void {
		const { bulkLines } = this.#means.metrics;
		this.#outcome.refused += refused;
		bulkLines.inc({ outcome: 'refused' }, refused);
		for (const [type, { created, updated, unchanged }] of Object.entries(counts)) {
			const held = this.#outcome.counts[type as ResourceType] ?? { created: 0, updated: 0, unchanged: 0 };
			this.#outcome.counts[type as ResourceType] = {
				created: held.created + created,
				updated: held.updated + updated,
				unchanged: held.unchanged + unchanged,
			};
			bulkLines.inc({ outcome: 'created' }, created);
			bulkLines.inc({ outcome: 'updated' }, updated);
			bulkLines.inc({ outcome: 'unchanged' }, unchanged);
		}
	}

	#fail(why: string): void {
		const failure = `${why}; ${this.#position} of ${this.#index.lines} lines were processed`;
		this.#end ??= { state: 'failed', failure, result: { ...this.#outcome, endedMs: Date.now() } satisfies ImportOutcome };
	}
}
