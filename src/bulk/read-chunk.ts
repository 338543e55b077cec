import { type FileHandle, open } from 'node:fs/promises';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import type { Library } from '#fhir/profiles/library.ts';
import type { BulkLimits } from './limits.ts';
import { lineOutcome, looksLikePatient, type ReadLine, readLine } from './line.ts';
import type { LineNotes } from './line-notes.ts';
import type { ImportTask, LineRange } from './task.ts';

export interface ChunkLine extends ReadLine {
	range: LineRange;
}

/** The lines of a chunk that belong to its part, after all checks that do not need the record. */
export interface Chunk {
	/** The number of lines that belong to it. */
	lines: number;
	hasOthers: boolean;
	read: ChunkLine[];
	/** Holds one OperationOutcome for each refused line. */
	refused: string[];
}

export interface ReadOptions {
	limits: BulkLimits & FhirLimits;
	/** The profiles and terms of the site. */
	library: Library;
	log: Log;
	notes: LineNotes;
}

/** The number of lines checked without a pause, because the thread that also waits for the database must not be blocked for long. */
const linesAtOnce = 32;
const lineFeed = 0x0a;

export async function readChunk(task: ImportTask, options: ReadOptions): Promise<Chunk> {
	const chunk: Chunk = { lines: 0, hasOthers: false, read: [], refused: [] };
	const file = await open(task.path);
	try {
		for (const range of task.ranges) {
			if (range.isTooLong) refuseTooLong(chunk, task, range, options);
			else await readRange(chunk, task, range, await bytesOf(file, range), options);
		}
	} finally {
		await file.close();
	}
	return chunk;
}

async function bytesOf(file: FileHandle, { start, end }: LineRange): Promise<Buffer> {
	const bytes = Buffer.allocUnsafe(end - start);
	for (let length = 0; length < bytes.length; ) {
		const { bytesRead } = await file.read(bytes, length, bytes.length - length, start + length);
		if (bytesRead === 0) throw new Error('the file of an import is shorter than it was');
		length += bytesRead;
	}
	return bytes;
}

function refuseTooLong(chunk: Chunk, { part }: ImportTask, { line }: LineRange, { limits }: ReadOptions): void {
	if (part === 'patients') {
		chunk.hasOthers = true;
		return;
	}
	chunk.lines++;
	chunk.refused.push(lineOutcome(line, new Failure('too-large', `the line is longer than ${limits.importLineBytesMax} bytes`)));
}

async function readRange(chunk: Chunk, task: ImportTask, range: LineRange, bytes: Buffer, options: ReadOptions): Promise<void> {
	let { line } = range;
	for (let at = 0; at < bytes.length; line++) {
		const found = bytes.indexOf(lineFeed, at);
		const end = found < 0 ? bytes.length : found;
		const text = bytes.subarray(at, end);
		if (!isBlank(text)) takeLine(chunk, task, text, { start: range.start + at, end: range.start + end, line }, options);
		at = end + 1;
		if (line % linesAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
	}
}

function isBlank(text: Buffer): boolean {
	return text.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

function takeLine(chunk: Chunk, task: ImportTask, text: Buffer, range: LineRange, { limits, library, log, notes }: ReadOptions): void {
	if (looksLikePatient(text) !== (task.part === 'patients')) {
		chunk.hasOthers = true;
		return;
	}
	chunk.lines++;
	if (task.tooCostly.includes(range.line)) {
		chunk.refused.push(lineOutcome(range.line, tooCostly()));
		return;
	}
	const { jsonDepthMax, repetitionsMax } = limits;
	notes.begin(range.line);
	try {
		const { checkReferences, mergedReferences, reportWrites, profiles, base } = task;
		const settings = { jsonDepthMax, repetitionsMax, checkReferences, mergedReferences, reportWrites, profiles, library, base };
		chunk.read.push({ ...readLine(text, range.line, settings), range });
	} catch (error) {
		if (!(error instanceof Failure)) log.error({ err: error, jobId: task.job.id, line: range.line }, 'a line could not be read');
		const failure = error instanceof Failure ? error : new Failure('internal', 'the line could not be read', { cause: error });
		chunk.refused.push(lineOutcome(range.line, failure));
	} finally {
		notes.end();
	}
}

function tooCostly(): Failure {
	return new Failure('too-costly', 'to read and check the line takes more processor time than is allowed (IMPORT_LINE_CPU_MS_MAX)');
}
