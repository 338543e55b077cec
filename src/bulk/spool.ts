import { open } from 'node:fs/promises';
import { Failure } from '#core/failure.ts';
import type { BulkLimits } from './limits.ts';
import type { LineRange } from './task.ts';

/** The size of a chunk, unless one line is longer. */
const chunkBytes = 8 * 1024 * 1024;
/** Shorter lines are no resources. A chunk may hold more of them, so that their index stays small. */
const lineBytesLeast = 13;
const lineFeed = 0x0a;

type IndexLimits = Pick<BulkLimits, 'importChunkLinesMax' | 'importLineBytesMax'>;

/** Divides the incoming bytes into chunks of whole lines, by their offsets in the file. */
export class LineIndex {
	readonly ranges: LineRange[] = [];
	/** The number of lines that are not empty. */
	lines = 0;
	readonly #limits: IndexLimits;
	#length = 0;
	#line = 1;
	#lineStart = 0;
	#chunk = { start: 0, line: 1, lines: 0 };

	constructor(limits: IndexLimits) {
		this.#limits = limits;
	}

	take(bytes: Uint8Array): void {
		for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) this.#endLine(this.#length + at + 1);
		this.#length += bytes.length;
	}

	end(): void {
		if (this.#lineStart < this.#length) this.#endLine(this.#length);
		this.#endChunk(this.#length);
	}

	#endLine(end: number): void {
		const start = this.#lineStart;
		const { importChunkLinesMax, importLineBytesMax } = this.#limits;
		if (end - start > 2) {
			this.lines++;
			this.#chunk.lines++;
		}
		this.#lineStart = end;
		if (end - start > importLineBytesMax) {
			this.#endChunk(start);
			this.ranges.push({ start, end, line: this.#line, isTooLong: true });
			this.#chunk = { start: end, line: this.#line + 1, lines: 0 };
		}
		this.#line++;
		const length = end - this.#chunk.start;
		if (length >= chunkBytes || (this.#chunk.lines >= importChunkLinesMax && length >= importChunkLinesMax * lineBytesLeast)) {
			this.#endChunk(end);
		}
	}

	#endChunk(end: number): void {
		const { start, line } = this.#chunk;
		if (start < end) this.ranges.push({ start, end, line });
		this.#chunk = { start: end, line: this.#line, lines: 0 };
	}
}

/**
 * Writes the body of an import to a file, at the speed of the disk.
 * @throws Failure of the body, or `unavailable` if the disk is full
 */
export async function spool(
	path: string,
	body: AsyncIterable<Uint8Array>,
	index: LineIndex,
	onBytes: (bytes: number) => void,
): Promise<void> {
	const file = await open(path, 'wx', 0o600);
	try {
		for await (const chunk of body) {
			index.take(chunk);
			await file.writeFile(chunk);
			onBytes(chunk.length);
		}
		index.end();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
		throw new Failure('unavailable', 'this node has no disk space left for the import', { cause: error, retryAfterSeconds: 60 });
	} finally {
		await file.close();
	}
}
