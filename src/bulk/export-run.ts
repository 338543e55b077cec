import { createWriteStream, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '#core/failure.ts';
import { tableShapes } from '#fhir/resources/index.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { BulkConnection } from '#storage/bulk-connection.ts';
import type { WorkerDatabase } from '#storage/database.ts';
import { scopedPatients } from '#storage/export-patients.ts';
import { troubleOf } from '#storage/sqlstate.ts';
import { exportMoment } from '#storage/statements/administrative/bulk-jobs.ts';
import { exportResources, sharedTypesOfSite } from '#storage/statements/export-resources.ts';
import { deletedLines } from './deleted-lines.ts';
import { fileOf } from './directory.ts';
import { ShapedLines } from './shaped-lines.ts';
import type { ExportProgress, ExportResult, ExportTask } from './task.ts';

/** A buffer size. It decides how often a file is written, not what is exported. */
const fileBufferBytes = 4 * 1024 * 1024;
/** Progress is told after this much. Nobody waits for it. */
const progressBytes = 1024 * 1024;
/** An export is given up when the database sends nothing for this long. */
const silentMsMax = 10 * 60_000;

/** Writes the resources of a site, type by type, as they are at one moment. */
export async function runExport(task: ExportTask, database: WorkerDatabase): Promise<ExportResult> {
	let connection: BulkConnection | undefined;
	let isStopped = false;
	task.port.on('message', () => {
		isStopped = true;
		connection?.destroy();
	});
	try {
		connection = await database.bulk('export');
		if (isStopped) return { kind: 'stopped' };
		return await exported(task, connection);
	} catch (error) {
		if (isStopped) return { kind: 'stopped' };
		if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return { kind: 'no-room' };
		if (error instanceof Failure || troubleOf(error) === 'connection') return { kind: 'unavailable' };
		throw error;
	} finally {
		connection?.destroy();
		task.port.close();
	}
}

async function exported(task: ExportTask, connection: BulkConnection): Promise<ExportResult> {
	const [[moment] = []] = await connection.run(exportMoment, []);
	await connection.control('begin');
	const { patients } = await scopedPatients(connection, task.job.siteId, task.scope);
	const copies: { type: ResourceType; rows: () => number; path: string }[] = [];
	const shared = new Set((await connection.run(sharedTypesOfSite, [task.job.siteId])).map(([type]) => type));
	for (const type of task.types) {
		if (tableShapes[type].isShared && !shared.has(type)) continue;
		const path = fileOf(task.directory, type);
		const { sinceMs, patientsOnly, base } = task;
		const clause = task.filters[type];
		const clauses = clause === undefined ? [] : [clause];
		const scope = { siteId: task.job.siteId, sinceMs, patientsOnly, patients, clauses, base };
		const copy = connection.copyOut(exportResources(tableShapes[type], scope));
		// It is flushed to the disk when it is closed, so a finished export survives a loss of power.
		const file = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: fileBufferBytes, flush: true });
		const lines = new Lines((bytes) => task.port.postMessage({ type, bytes } satisfies ExportProgress));
		const elements = task.elements[type];
		await (elements === undefined ? pipeline(copy, lines, file) : pipeline(copy, lines, new ShapedLines(type, elements), file));
		copies.push({ type, rows: () => copy.rowCount, path });
	}
	const deleted = await writeDeleted(task, patients, connection);
	await connection.control('commit');
	const output = copies.map(({ type, rows }) => ({ type, count: rows() }));
	for (const { path, rows } of copies) if (rows() === 0) rmSync(path);
	return { kind: 'exported', momentMs: Number(moment), output: output.filter(({ count }) => count > 0), deleted };
}

/** Writes the Bundles of what was deleted to a file, and returns their number. */
async function writeDeleted(task: ExportTask, patients: readonly string[] | undefined, connection: BulkConnection): Promise<number> {
	let count = 0;
	let file: FileHandle | undefined;
	try {
		for await (const line of deletedLines(task, patients, connection)) {
			file ??= await open(fileOf(task.directory, 'Bundle'), 'wx', 0o600);
			await file.appendFile(line);
			count++;
		}
		await file?.sync();
	} finally {
		await file?.close();
	}
	return count;
}

const quote = 0x01;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/**
 * Converts the rows of `exportResources` to NDJSON. They are NDJSON already, except for a text with a line break between its elements:
 * PostgreSQL
 * puts that into quotes, which do not occur in JSON text.
 */
class Lines extends Transform {
	readonly #onProgress: (bytes: number) => void;
	readonly #silence = setTimeout(() => this.destroy(new Failure('unavailable', 'the database sends nothing')), silentMsMax);
	#bytes = 0;
	#isQuoted = false;

	constructor(onProgress: (bytes: number) => void) {
		super({ highWaterMark: fileBufferBytes });
		this.#onProgress = onProgress;
	}

	override _transform(chunk: Buffer, _encoding: string, done: (error: null, lines: Buffer) => void): void {
		this.#silence.refresh();
		this.#bytes += chunk.length;
		if (this.#bytes >= progressBytes) this.#report();
		done(null, this.#isQuoted || chunk.includes(quote) ? this.#unquoted(chunk) : chunk);
	}

	override _flush(done: () => void): void {
		this.#report();
		done();
	}

	override _destroy(error: Error | null, done: (error: Error | null) => void): void {
		clearTimeout(this.#silence);
		done(error);
	}

	#report(): void {
		this.#onProgress(this.#bytes);
		this.#bytes = 0;
	}

	#unquoted(chunk: Buffer): Buffer {
		let length = 0;
		for (const byte of chunk) {
			if (byte === quote) this.#isQuoted = !this.#isQuoted;
			else chunk[length++] = this.#isQuoted && (byte === lineFeed || byte === carriageReturn) ? space : byte;
		}
		return chunk.subarray(0, length);
	}
}
