import { constants, fchmod, ftruncate, writevSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Log } from '#core/log.ts';
import { closeFile, codeOf, openFile, storeFailure, syncAll, syncData, writeAll } from './file-system.ts';
import { encodeSegmentHead, pageBytes } from './segment-format.ts';

const changeMode = promisify(fchmod);
const cutFile = promisify(ftruncate) as (fd: number, bytes: number) => Promise<void>;

/** A sealed segment is never written again. */
export const sealedMode = 0o440;
const openMode = 0o640;
/** Up to so many bytes a copy into the page cache costs less than the way through the thread pool. */
const atOnceBytes = 512 * 1024;

/** A record on its way to the disk. Its bytes must not change until `durable` has settled. */
interface Append {
	offset: number;
	bytes: number;
	pieces: readonly Buffer[];
	isAligned: boolean;
	startedMs: number;
	resolve(): void;
	reject(error: unknown): void;
}

export interface SegmentFileOptions {
	path: string;
	id: string;
	writer: string;
	/** Makes the folder if it is missing. */
	prepare(): Promise<void>;
	/** Makes the name of the new file durable. */
	syncFolder(): Promise<void>;
	/** Knows whether this folder takes O_DIRECT. */
	direct: DirectAccess;
	/** Told of every record that is durable: how long that took, in milliseconds. */
	appended?: ((ms: number) => void) | undefined;
	/** Told how long each sync took, in milliseconds. */
	synced?: ((ms: number) => void) | undefined;
}

/** Tells whether the file system takes writes past the page cache. It is found out once, and said once. */
export class DirectAccess {
	#isPossible: boolean;
	readonly #log: Pick<Log, 'warn'> | undefined;

	constructor(isWanted: boolean, log: Pick<Log, 'warn'> | undefined) {
		this.#isPossible = isWanted && constants.O_DIRECT !== undefined;
		this.#log = log;
		if (isWanted && !this.#isPossible) this.#say(undefined);
	}

	get isPossible(): boolean {
		return this.#isPossible;
	}

	refused(error: unknown): void {
		if (!this.#isPossible) return;
		this.#isPossible = false;
		this.#say(error);
	}

	#say(error: unknown): void {
		this.#log?.warn({ err: error }, 'the file system of the object store takes no O_DIRECT; objects are written through the page cache');
	}
}

/**
 * One segment while it grows. Records are written one after the other in the order of their places, so everything before a durable record
 * is durable too. A sync serves all records that were written before it began; the next records are written meanwhile.
 */
export class SegmentFile {
	readonly id: string;
	readonly #options: SegmentFileOptions;
	readonly #opened: Promise<{ fd: number; direct: number | undefined }>;
	#queue: Append[] = [];
	#underWay: Append[] = [];
	/** The end of the last record that was written whole. */
	#end = pageBytes;
	#written: Append[] = [];
	#writing: Promise<void> | undefined;
	#syncing: Promise<void> | undefined;
	#trouble: unknown;
	#sealed: Promise<void> | undefined;

	constructor(options: SegmentFileOptions) {
		this.id = options.id;
		this.#options = options;
		this.#opened = this.#create();
		this.#opened.catch((error: unknown) => this.#fail(error));
	}

	/** After an error nobody knows what the disk holds: whatever comes goes into another segment. */
	get isBroken(): boolean {
		return this.#trouble !== undefined;
	}

	async #create(): Promise<{ fd: number; direct: number | undefined }> {
		const { path, id, writer, prepare, syncFolder, direct } = this.#options;
		const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
		await prepare();
		const fd = await openFile(path, flags, openMode);
		try {
			await writeAll(fd, [encodeSegmentHead({ id, createdMs: Date.now(), writer })], 0);
			await syncAll(fd);
			await syncFolder();
			return { fd, direct: direct.isPossible ? await this.#openDirect(path) : undefined };
		} catch (error) {
			await closeFile(fd).catch(() => undefined);
			throw error;
		}
	}

	async #openDirect(path: string): Promise<number | undefined> {
		try {
			return await openFile(path, constants.O_WRONLY | constants.O_DIRECT);
		} catch (error) {
			this.#options.direct.refused(error);
			return undefined;
		}
	}

	/** Resolves when the record is durable. `offset` is behind that of every earlier call. @throws Failure `unavailable` */
	append(offset: number, pieces: readonly Buffer[], isAligned: boolean): Promise<void> {
		const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
		return new Promise<void>((resolve, reject) => {
			const startedMs = performance.now();
			const append = { offset, bytes, pieces, isAligned, startedMs, resolve, reject };
			if (this.#trouble !== undefined) return reject(storeFailure(this.#trouble));
			this.#queue.push(append);
			// The records that come in the same turn of the thread are written together.
			this.#writing ??= Promise.resolve().then(() => this.#write());
		});
	}

	/** Never rejects. */
	async #write(): Promise<void> {
		try {
			const files = await this.#opened;
			while (this.#queue.length > 0 && this.#trouble === undefined) {
				this.#underWay = this.#nextRun();
				await this.#writeRun(files, this.#underWay);
				this.#end = this.#underWay.reduce((_end, { offset, bytes }) => offset + bytes, this.#end);
				this.#written.push(...this.#underWay.splice(0));
				this.#syncing ??= this.#sync(files.fd);
			}
		} catch (error) {
			this.#trouble ??= error ?? new Error('the disk gave no reason');
			this.#queue.unshift(...this.#underWay.splice(0));
			await this.#cut();
		}
		this.#writing = undefined;
		// A sync may have failed while the last records were being written.
		if (this.#trouble !== undefined) this.#fail(this.#trouble);
	}

	/** Takes the records that lie behind one another without a gap and are written alike. */
	#nextRun(): Append[] {
		const [first] = this.#queue;
		let end = first?.offset ?? 0;
		const found = this.#queue.findIndex(({ offset, bytes, isAligned }) => {
			if (isAligned !== first?.isAligned || offset !== end) return true;
			end += bytes;
			return false;
		});
		return this.#queue.splice(0, found < 0 ? this.#queue.length : found);
	}

	async #writeRun({ fd, direct }: { fd: number; direct: number | undefined }, run: readonly Append[]): Promise<void> {
		const [first] = run;
		if (first === undefined) return;
		const pieces = run.flatMap((append) => append.pieces);
		if (first.isAligned && direct !== undefined && this.#options.direct.isPossible) {
			try {
				return await writeAll(direct, pieces, first.offset);
			} catch (error) {
				if (codeOf(error) !== 'EINVAL') throw error;
				this.#options.direct.refused(error);
			}
		}
		const bytes = run.reduce((sum, append) => sum + append.bytes, 0);
		if (bytes > atOnceBytes || writevSync(fd, pieces, first.offset) !== bytes) await writeAll(fd, pieces, first.offset);
	}

	/** Gives back the space of a record of which a part was written, because the disk may be full. Never rejects. */
	async #cut(): Promise<void> {
		try {
			await cutFile((await this.#opened).fd, this.#end);
		} catch {
			// The torn tail is recognised by whoever reads the segment.
		}
	}

	/** Never rejects. */
	async #sync(fd: number): Promise<void> {
		try {
			while (this.#written.length > 0 && this.#trouble === undefined) {
				const waiting = this.#written;
				this.#written = [];
				try {
					const started = performance.now();
					await syncData(fd);
					this.#options.synced?.(performance.now() - started);
				} catch (error) {
					for (const { reject } of waiting) reject(storeFailure(error));
					throw error;
				}
				const now = performance.now();
				for (const { resolve, startedMs } of waiting) {
					this.#options.appended?.(now - startedMs);
					resolve();
				}
			}
		} catch (error) {
			this.#fail(error);
		}
		this.#syncing = undefined;
	}

	/**
	 * Rejects everything that is not durable: after a failed sync nobody knows whether the disk has it. Records that are being written are
	 * rejected when that has ended, because their memory is used again then.
	 */
	#fail(error: unknown): void {
		this.#trouble ??= error ?? new Error('the disk gave no reason');
		for (const { reject } of [...this.#queue.splice(0), ...this.#written.splice(0)]) reject(storeFailure(this.#trouble));
	}

	/** Ends the segment when all of its records are durable. Nothing may be appended any more. Never rejects. */
	seal(): Promise<void> {
		this.#sealed ??= this.#seal();
		return this.#sealed;
	}

	async #seal(): Promise<void> {
		await this.#opened.catch(() => undefined);
		while (this.#writing ?? this.#syncing) await (this.#writing ?? this.#syncing);
		const files = await this.#opened.catch(() => undefined);
		if (files === undefined) return;
		try {
			await changeMode(files.fd, sealedMode);
			await syncAll(files.fd);
		} catch {
			// Whoever looks after the segments finds that its writer has ended, and seals it.
		}
		for (const fd of [files.fd, files.direct]) if (fd !== undefined) await closeFile(fd).catch(() => undefined);
	}
}

/** The size of the head of a segment: its first record begins behind it. */
export const firstRecordAt = pageBytes;
