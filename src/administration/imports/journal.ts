import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AdministrationError } from '../context.ts';

/** Something that an import did not take, and why. */
export interface Refusal {
	/** The message of a file, the line of a file; undefined for the whole of it. */
	at?: number | undefined;
	reason: string;
}

/** Counts what became of the things of a file, an instance or a part of either. */
export interface Counts {
	taken: number;
	/** Taken before: applied once. */
	known: number;
	refused: number;
	skipped: number;
}

interface Line extends Counts {
	unit: string;
	/** The number of messages of the unit that are settled; absent when it is settled as a whole. */
	at?: number;
	refusals?: Refusal[];
}

export const noCounts: Counts = { taken: 0, known: 0, refused: 0, skipped: 0 };

function added(left: Counts, right: Counts, sign: 1 | -1 = 1): Counts {
	return {
		taken: left.taken + sign * right.taken,
		known: left.known + sign * right.known,
		refused: left.refused + sign * right.refused,
		skipped: left.skipped + sign * right.skipped,
	};
}

/** The state that the lines of a journal tell together. */
class Tally {
	readonly done = new Set<string>();
	/** The last line of units that are not settled. */
	readonly open = new Map<string, Line>();
	total = noCounts;

	/** Adds a line. Its counts are those since the beginning of its unit, so they take the place of the line before. */
	add(line: Line): void {
		const before = this.open.get(line.unit);
		if (before !== undefined) this.total = added(this.total, before, -1);
		this.total = added(this.total, line);
		if (line.at === undefined && line.refused === 0) {
			this.open.delete(line.unit);
			this.done.add(line.unit);
		} else this.open.set(line.unit, { ...line, refusals: [] });
	}
}

/** Lines are synced together; those since the last sync are done again after a power failure, which changes nothing. */
const linesPerSync = 100;

/**
 * The record of an import, one line of JSON for each unit, so that a run that was killed goes on where it stopped. It has names of files and
 * reasons, and no content. A unit of which something was refused is tried again by the next run. Memory holds the names of units alone.
 */
export class Journal {
	readonly path: string;
	readonly #file: FileHandle | undefined;
	readonly #tally: Tally;
	#lines = 0;

	private constructor(path: string, file: FileHandle | undefined, tally: Tally) {
		this.path = path;
		this.#file = file;
		this.#tally = tally;
	}

	/**
	 * @param of what is imported, from where and to where; a journal of something else is refused
	 * @param isDry nothing is written
	 */
	static async open(path: string, of: object, { isDry }: { isDry: boolean }): Promise<Journal> {
		if (isDry) return new Journal(path, undefined, new Tally());
		await mkdir(dirname(path), { recursive: true });
		const file = await open(path, 'a+', 0o600);
		try {
			const { tally, isNew } = await readLines(file, path, JSON.stringify(of));
			// A line that a kill cut off is ended, so that the next one stands alone.
			await file.appendFile(isNew ? `${JSON.stringify(of)}\n` : '\n');
			return new Journal(path, file, tally);
		} catch (error) {
			await file.close();
			throw error;
		}
	}

	get total(): Counts {
		return this.#tally.total;
	}

	isDone(unit: string): boolean {
		return this.#tally.done.has(unit);
	}

	/** The number of messages of a unit that a run before has settled, with nothing refused among them. */
	settledIn(unit: string): { at: number; counts: Counts } {
		const line = this.#tally.open.get(unit);
		if (line?.at === undefined || line.refused > 0) return { at: 0, counts: noCounts };
		const { at, taken, known, refused, skipped } = line;
		// Nothing else of the line: with its `at`, the unit would never be noted as settled.
		return { at, counts: { taken, known, refused, skipped } };
	}

	/** Notes how far a unit has come; its counts are those since its beginning. */
	async note(line: Line): Promise<void> {
		this.#tally.add(line);
		await this.#file?.appendFile(`${JSON.stringify(line)}\n`);
		this.#lines++;
		if (this.#lines % linesPerSync === 0) await this.#file?.datasync();
	}

	async close(): Promise<void> {
		await this.#file?.datasync();
		await this.#file?.close();
	}
}

async function readLines(file: FileHandle, path: string, of: string) {
	const tally = new Tally();
	let isNew = true;
	for await (const text of linesIn(file)) {
		if (text === '') continue;
		if (isNew) {
			if (text !== of) throw new AdministrationError(`${path} is the journal of another import: ${text}`, 'conflict', 'journal');
			isNew = false;
			continue;
		}
		const line = lineOf(text);
		if (line !== undefined) tally.add(line);
	}
	return { tally, isNew };
}

/** Undefined for a line that a kill cut off. */
function lineOf(text: string): Line | undefined {
	try {
		const line = JSON.parse(text) as Partial<Line>;
		return typeof line.unit === 'string' && typeof line.taken === 'number' ? (line as Line) : undefined;
	} catch {
		return undefined;
	}
}

const readBytes = 64 * 1024;

/** The lines of a file from its beginning, and what follows the last line end. */
async function* linesIn(file: FileHandle): AsyncGenerator<string> {
	const chunk = Buffer.alloc(readBytes);
	let held: Buffer = Buffer.alloc(0);
	for (let position = 0; ; ) {
		const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
		if (bytesRead === 0) break;
		position += bytesRead;
		held = Buffer.concat([held, chunk.subarray(0, bytesRead)]);
		for (let end = held.indexOf(0x0a); end !== -1; end = held.indexOf(0x0a)) {
			yield held.toString('utf8', 0, end);
			held = held.subarray(end + 1);
		}
	}
	if (held.length > 0) yield held.toString('utf8');
}
