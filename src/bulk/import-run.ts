import type { Clock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import { RepeatedTrouble } from '#core/repeated.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import { bundledLibrary } from '#fhir/profiles/bundled-source.ts';
import type { Library } from '#fhir/profiles/library.ts';
import { siteLibrary } from '#fhir/profiles/site-library.ts';
import { tableShapes } from '#fhir/resources/index.ts';
import { applyChangeSet } from '#record/apply/apply.ts';
import type { ApplyContext } from '#record/apply/context.ts';
import { SiteKeys } from '#record/apply/site-keys.ts';
import type { WorkingSet } from '#record/apply/working-set.ts';
import { kindOf } from '#record/kinds/index.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { BulkConnection } from '#storage/bulk-connection.ts';
import type { WorkerDatabase } from '#storage/database.ts';
import { checkPatients, importRows } from '#storage/import-rows.ts';
import { ReadSet } from '#storage/read-set.ts';
import { SiteDefinitions } from '#storage/site-definitions.ts';
import { checkCommitted } from '#storage/sqlstate.ts';
import { plainArray } from '#storage/statement.ts';
import { readPosition, settleLines } from '#storage/statements/bulk-job.ts';
import { takeTurns } from '#storage/statements/take-turns.ts';
import { transact, WasCommitted } from '#storage/transact.ts';
import { WriteSet } from '#storage/write-set.ts';
import type { BulkLimits } from './limits.ts';
import { lineNotices, lineOutcome } from './line.ts';
import { LineNotes } from './line-notes.ts';
import { type Chunk, type ChunkLine, readChunk } from './read-chunk.ts';
import { checksOwnProfiles, type Go, type ImportResult, type ImportTask, type TypeCounts, type WaitingLine } from './task.ts';

export interface ImportOptions {
	database: WorkerDatabase;
	limits: BulkLimits & DeliveryLimits & FhirLimits;
	log: Log;
	clock: Clock;
}

/** The outcome of lines that were committed together. */
interface Settled {
	counts: Partial<Record<ResourceType, TypeCounts>>;
	refused: string[];
	/** The client is told this of lines that were stored. */
	warned: string[];
	waiting: WaitingLine[];
}

/** One transaction: what it settled, and the job's position before it, by which it is found again when the answer to its COMMIT is lost. */
type Settlement = { position: number; settled: Settled } | 'cancelled';

class Cancelled extends Error {}

/** A table is analyzed after this many new rows, and then each time it has grown by this factor. */
const analyzedRows = { first: 1000, times: 4 };

/** The state of a worker: connections that are not in use, and the statements. */
export class Importing {
	readonly options: ImportOptions;
	readonly readSet = new ReadSet(tableShapes);
	readonly writeSet = new WriteSet(tableShapes, 0);
	readonly #idle: BulkConnection[] = [];
	readonly notTaken: RepeatedTrouble;
	readonly #definitions: SiteDefinitions<Library>;
	readonly #grown = new Map<ResourceType, { rows: number; next: number }>();

	constructor(options: ImportOptions) {
		this.options = options;
		this.notTaken = new RepeatedTrouble(options.log, 'the database does not take an import');
		this.#definitions = new SiteDefinitions((siteId, contents) =>
			siteLibrary(contents, (err) => options.log.error({ err, siteId }, 'a loaded definition cannot be read')),
		);
	}

	/** @throws Failure `unavailable` */
	async connected(): Promise<BulkConnection> {
		return this.#idle.pop() ?? this.options.database.bulk('import');
	}

	giveBack(connection: BulkConnection): void {
		this.#idle.push(connection);
	}

	/** Returns the profiles and terms of the site of an import; undefined while the database is away. */
	async libraryOf(task: ImportTask): Promise<Library | undefined> {
		const { job, definitionsVersion } = task;
		if (!checksOwnProfiles(task)) return bundledLibrary();
		let connection: BulkConnection | undefined;
		try {
			connection = await this.connected();
			await this.#definitions.prepare(connection, job.siteId, definitionsVersion);
			this.giveBack(connection);
		} catch (error) {
			connection?.destroy();
			this.options.log.warn({ err: error, jobId: job.id }, 'the profiles of a site could not be read for an import');
			return undefined;
		}
		return this.#definitions.of(job.siteId) ?? bundledLibrary();
	}

	/** Updates the planner's statistics of tables that have grown much by the commit. Without this, imports are only slower. */
	async noteGrowth(counts: Settled['counts']): Promise<void> {
		for (const [type, { created }] of Object.entries(counts)) {
			const held = this.#grown.get(type as ResourceType) ?? { rows: 0, next: analyzedRows.first };
			this.#grown.set(type as ResourceType, held);
			held.rows += created;
			if (held.rows < held.next) continue;
			held.next = held.rows * analyzedRows.times;
			await this.#analyze(tableShapes[type as ResourceType].keptIn);
		}
	}

	async #analyze(table: string): Promise<void> {
		let connection: BulkConnection | undefined;
		try {
			connection = await this.connected();
			await connection.analyze(table);
			this.giveBack(connection);
		} catch (error) {
			connection?.destroy();
			this.options.log.warn({ err: error, table }, 'a table could not be analyzed');
		}
	}
}

/** Reads and checks a chunk at once, and writes it when the previous chunk is committed. */
export async function runImport(task: ImportTask, importing: Importing): Promise<ImportResult> {
	const said = new Promise<Go>((resolve) => {
		task.port.once('message', resolve);
		task.port.once('close', () => resolve('stop'));
	});
	try {
		const library = await importing.libraryOf(task);
		if (library === undefined) return { kind: 'unavailable' };
		const notes = new LineNotes(task.notes);
		notes.noteThread();
		const chunk = await readChunk(task, { ...importing.options, library, notes });
		if ((await said) === 'stop') return { kind: 'stopped' };
		notes.writing();
		return await new ChunkWriting(task, importing, chunk).settle();
	} finally {
		task.port.close();
	}
}

/** A chunk that the database did not take is written again after these pauses, for UNAVAILABLE_MS_MAX. */
const backOffMs = { first: 50, most: 2000 };

class ChunkWriting {
	readonly #task: ImportTask;
	readonly #importing: Importing;
	readonly #chunk: Chunk;
	/** Lines that the next commit settles, beside those that it writes. */
	#uncounted: number;

	constructor(task: ImportTask, importing: Importing, chunk: Chunk) {
		this.#task = task;
		this.#importing = importing;
		this.#chunk = chunk;
		this.#uncounted = chunk.refused.length;
	}

	async settle(): Promise<ImportResult> {
		const { lines, hasOthers, read, refused } = this.#chunk;
		const all: Settled = { counts: {}, refused: [...refused], warned: [], waiting: [] };
		try {
			if (read.length > 0) await this.#settle(read, all);
			this.#importing.notTaken.over();
		} catch (error) {
			if (error instanceof Cancelled) return { kind: 'cancelled' };
			if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
			this.#importing.notTaken.happened(error, { jobId: this.#task.job.id });
			return { kind: 'unavailable' };
		}
		await this.#importing.noteGrowth(all.counts);
		const { counts, waiting } = all;
		const told = {
			refused: all.refused.length,
			outcomes: Buffer.from(all.refused.join('')),
			warned: all.warned.length,
			warnings: Buffer.from(all.warned.join('')),
		};
		return { kind: 'settled', lines, hasOthers, counts, ...told, waiting };
	}

	/** @throws Cancelled when the job was; Failure `unavailable` */
	#settle(read: readonly ChunkLine[], all: Settled): Promise<void> {
		const { limits, log } = this.#importing.options;
		return transact<ChunkLine, Settlement>(read, {
			attempt: (lines, unsure, committing) => this.#attempt(lines, unsure, committing),
			// Each attempt gives up its own connection.
			recover: async () => undefined,
			conclude: (_lines, settlement) => {
				if (settlement === 'cancelled') throw new Cancelled();
				merge(all, settlement.settled);
				this.#uncounted = 0;
			},
			refuse: ({ line }, _trouble, error) => {
				log.error({ err: error, jobId: this.#task.job.id, line }, 'a line of an import is refused by the database');
				all.refused.push(lineOutcome(line, new Failure('internal', 'the resource could not be stored')));
				this.#uncounted++;
				return 'done';
			},
			pauseMs: (_trouble, repeats, elapsedMs) =>
				elapsedMs > limits.unavailableMsMax ? undefined : Math.min(backOffMs.first * 2 ** repeats, backOffMs.most),
		});
	}

	async #attempt(
		lines: readonly ChunkLine[],
		unsure: Settlement | undefined,
		committing: (settlement: Settlement) => void,
	): Promise<Settlement> {
		const connection = await this.#importing.connected();
		try {
			const settlement = await this.#carryOut(connection, lines, unsure, committing);
			this.#importing.giveBack(connection);
			return settlement;
		} catch (error) {
			connection.destroy();
			throw error;
		}
	}

	async #carryOut(
		connection: BulkConnection,
		lines: readonly ChunkLine[],
		unsure: Settlement | undefined,
		committing: (settlement: Settlement) => void,
	): Promise<Settlement> {
		const { siteId, id } = this.#task.job;
		await connection.control('begin');
		await connection.run(takeTurns, [plainArray([siteId]), plainArray([lines.length])]);
		const [[found] = []] = await connection.run(readPosition, [siteId, id]);
		if (found === undefined) return this.#cancelled(connection);
		const position = Number(found);
		if (unsure !== undefined && unsure !== 'cancelled' && position !== unsure.position) throw new WasCommitted();
		const settled = await this.#write(connection, lines);
		const count = lines.length - settled.waiting.length + this.#uncounted;
		const noted = await connection.run(settleLines, [siteId, id, count]);
		if (noted.length === 0) return this.#cancelled(connection);
		const settlement = { position, settled };
		committing(settlement);
		checkCommitted(await connection.control('commit'));
		return settlement;
	}

	async #cancelled(connection: BulkConnection): Promise<'cancelled'> {
		await connection.control('rollback');
		return 'cancelled';
	}

	async #write(connection: BulkConnection, lines: readonly ChunkLine[]): Promise<Settled> {
		const { job, mismatch } = this.#task;
		const { siteId, id } = job;
		const settled: Settled = { counts: {}, refused: [], warned: [], waiting: [] };
		const { present, merged } = await this.#presentOf(connection, lines, settled);
		const { readSet, writeSet, options } = this.#importing;
		const sets = await readSet.read(connection, new Map([[siteId, keysOf(present, merged)]]));
		const set = sets.get(siteId);
		if (set === undefined) throw new Error('the site of an import was not read');
		const written = { source: `urn:tributary:import:${id}`, lastUpdated: new Date(options.clock.nowMs()).toISOString() };
		const message = { id, surface: 'import', source: `import ${id}`, settings: { mismatch } };
		for (const line of present) apply(set, line, { ...written, message }, settled);
		await importRows(connection, writeSet, tableShapes, siteId, set, written);
		return settled;
	}

	/** Returns the lines whose patients exist, and which of these were merged. Some of the other lines may wait. */
	async #presentOf(
		connection: BulkConnection,
		lines: readonly ChunkLine[],
		settled: Settled,
	): Promise<{ present: ChunkLine[]; merged: ReadonlySet<string> }> {
		const { job, part, expected } = this.#task;
		const named = new Set(lines.flatMap(({ patients }) => patients.map(({ rowId }) => rowId)));
		const { missing, merged } = await checkPatients(connection, job.siteId, [...named]);
		const [present, blocked] = withPatients(lines, missing, new Set(expected));
		for (const { line, range, rowId = '', patients } of blocked) {
			const absent = patients.filter((patient) => missing.has(patient.rowId));
			if (part === 'patients' && expected === undefined) {
				settled.waiting.push({ range, rowId, missing: absent.map((patient) => patient.rowId) });
			} else {
				settled.refused.push(lineOutcome(line, unknownPatient(absent.map(({ expression }) => expression))));
			}
		}
		return { present, merged };
	}
}

/** Separates the lines whose patients are in the record, in these lines, or expected, from all others. */
export function withPatients<L extends Pick<ChunkLine, 'change' | 'rowId' | 'patients' | 'checkReferences'>>(
	lines: readonly L[],
	missing: ReadonlySet<string>,
	expected: ReadonlySet<string>,
): [L[], L[]] {
	let present = [...lines];
	const blocked: L[] = [];
	for (;;) {
		const own = new Set(present.filter(({ change }) => change.resourceType === 'Patient').map(({ rowId }) => rowId));
		const isThere = (rowId: string) => !missing.has(rowId) || own.has(rowId) || expected.has(rowId);
		const staying: L[] = [];
		for (const line of present) {
			const isPresent = !line.checkReferences || line.patients.every(({ rowId }) => isThere(rowId));
			(isPresent ? staying : blocked).push(line);
		}
		if (staying.length === present.length) return [present, blocked];
		present = staying;
	}
}

function unknownPatient(expressions: readonly string[]): Failure {
	return new Failure('unknown-key', 'the resource refers to a Patient that exists neither in this site nor in the import', {
		issues: expressions.map((expression) => ({
			code: 'not-found',
			expression,
			diagnostics: 'neither this site nor the import has a Patient with this id',
		})),
	});
}

function keysOf(lines: readonly ChunkLine[], merged: ReadonlySet<string>): SiteKeys {
	const keys = new SiteKeys();
	for (const { change } of lines) kindOf(change).keys(change, keys, [change]);
	for (const rowId of merged) keys.addRow('Patient', rowId);
	return keys;
}

type Writing = Pick<ApplyContext, 'source' | 'lastUpdated' | 'message'>;

function apply(set: WorkingSet, { line, change, notices }: ChunkLine, written: Writing, settled: Settled): void {
	const context: ApplyContext = { set, newId, ...written, flags: [], changed: [], results: [], stepReports: [], instances: [] };
	try {
		applyChangeSet(context, { changes: [change], flags: [] });
	} catch (error) {
		if (!(error instanceof Failure)) throw error;
		settled.refused.push(lineOutcome(line, error));
		return;
	}
	if (notices.some(({ severity }) => severity === 'warning')) settled.warned.push(lineNotices(line, notices));
	const counts = countsOf(settled, change.resourceType);
	if (context.changed.length === 0) counts.unchanged++;
	else if (context.results[0]?.status === 201) counts.created++;
	else counts.updated++;
}

function countsOf({ counts }: Pick<Settled, 'counts'>, type: ResourceType): TypeCounts {
	const held = counts[type] ?? { created: 0, updated: 0, unchanged: 0 };
	counts[type] = held;
	return held;
}

function merge(all: Settled, settled: Settled): void {
	all.refused.push(...settled.refused);
	all.warned.push(...settled.warned);
	all.waiting.push(...settled.waiting);
	for (const [type, { created, updated, unchanged }] of Object.entries(settled.counts)) {
		const counts = countsOf(all, type as ResourceType);
		counts.created += created;
		counts.updated += updated;
		counts.unchanged += unchanged;
	}
}
