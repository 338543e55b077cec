import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import type { ConnectionPool } from '../connection-pool.ts';
import type { StorageMetrics } from '../metrics.ts';
import type { Relocation } from '../statements/relocate-objects.ts';
import type { FileStore } from './file-store.ts';
import { isQuarantined, ownerOf } from './object-key.ts';
import { type ObjectDescription, settlingMs } from './object-store.ts';
import type { Pace } from './pace.ts';
import { keyHeldMs, type NamedObject, objectsNamed, relocate } from './relocate.ts';

/** Reads from the beginning of an object what it tells of itself. The store itself knows no format. */
export interface Beginning {
	sopInstanceUid: string;
	/** The size of its head, which the digest does not cover. */
	headBytes: number;
}

export interface MoveOptions {
	store: FileStore;
	database: ConnectionPool;
	metrics: Pick<StorageMetrics, 'filesMoved'>;
	log: Log;
	/** Returns undefined when the bytes are no beginning of an object. */
	describe(bytes: Buffer): Beginning | undefined;
	/** Longer objects stay files. */
	objectBytesMax: number;
	/** A younger file may be on its way into the index. */
	settledMs?: number;
	/** For so long a file stays that was moved, because its key may have been read before. */
	graceMs?: number;
}

/** The head that the service writes is shorter. */
const beginningBytes = 4096;
const batchFiles = 100;
/** The files that one round looks at. */
const roundFiles = 2000;
/** Files that stay are looked at again after so long. */
const againMs = 86_400_000;

interface OldFile {
	key: string;
	bytes: number;
}

interface Described extends OldFile, Beginning {
	siteId: string;
	id: string;
}

/** Moves objects that are files into segments, in the background: those that earlier releases stored. */
export class FileMover {
	readonly #options: MoveOptions;
	#files: AsyncIterator<OldFile & { changedMs: number }> | undefined;
	#nextMs = 0;
	/** Files whose rows name copies, and since when. */
	#moved: { path: string; atMs: number }[] = [];

	constructor(options: MoveOptions) {
		this.#options = options;
	}

	/** Moves some of the files, and removes those that were moved long ago. @throws Failure `unavailable`, Ended */
	async round(pace: Pace): Promise<void> {
		const { store, settledMs = settlingMs, objectBytesMax } = this.#options;
		await this.#removeMoved();
		if (this.#files === undefined && Date.now() < this.#nextMs) return;
		this.#files ??= store.files()[Symbol.asyncIterator]();
		let batch: OldFile[] = [];
		for (let seen = 0; seen < roundFiles; seen++) {
			pace.stopIfEnded();
			const next = await this.#files.next();
			if (next.done) {
				this.#files = undefined;
				this.#nextMs = Date.now() + againMs;
				break;
			}
			const { key, bytes, changedMs } = next.value;
			if (isQuarantined(key) || bytes > objectBytesMax || changedMs > Date.now() - settledMs) continue;
			batch.push({ key, bytes });
			if (batch.length < batchFiles) continue;
			await this.#move(batch, pace);
			batch = [];
		}
		await this.#move(batch, pace);
	}

	async #move(batch: readonly OldFile[], pace: Pace): Promise<void> {
		const { database, store, metrics } = this.#options;
		if (batch.length === 0) return;
		const described: Described[] = [];
		for (const file of batch) {
			const beginning = await this.#describe(file);
			if (beginning) described.push({ ...file, ...beginning, ...ownerOf(file.key) });
		}
		const named = await objectsNamed(database, described);
		const relocations: Relocation[] = [];
		const left: string[] = [];
		for (const file of described) {
			const { key, id, siteId, sopInstanceUid } = file;
			const row = named.get(id);
			if (row === undefined) continue;
			const to = row.key === key ? await this.#copy(file, row, pace) : undefined;
			if (to !== undefined) relocations.push({ siteId, sopInstanceUid, from: key, to });
			// A process that ended before it removed the file has moved it.
			else if (row.key !== key && (await store.size(row.key)) === row.bytes) left.push(key);
		}
		await relocate(database, relocations);
		metrics.filesMoved.inc(relocations.length);
		const atMs = Date.now();
		for (const key of [...left, ...relocations.map(({ from }) => from)]) this.#moved.push({ path: store.pathOf(key), atMs });
	}

	async #describe({ key, bytes }: OldFile): Promise<Beginning | undefined> {
		const { store, describe } = this.#options;
		const pieces: Uint8Array[] = [];
		try {
			for await (const piece of store.read(key, { start: 0, end: Math.min(bytes, beginningBytes) })) pieces.push(piece);
		} catch (error) {
			// It was removed since the folder was read.
			if (error instanceof Failure && error.code === 'not-found') return undefined;
			throw error;
		}
		return describe(Buffer.concat(pieces));
	}

	/** Copies a file if its content is what its row says. */
	async #copy({ key, bytes, headBytes, sopInstanceUid }: Described, row: NamedObject, pace: Pace): Promise<string | undefined> {
		const { store, log } = this.#options;
		const about: ObjectDescription = { sopInstanceUid, callingAe: row.callingAe, source: row.source };
		const pieces: Uint8Array[] = [];
		for await (const piece of store.read(key)) pieces.push(piece);
		const content = Buffer.concat(pieces);
		const writer = store.begin(content.subarray(0, headBytes));
		try {
			await writer.write(content.subarray(headBytes));
			if ((await writer.finish()).digest !== row.digest || content.length !== row.bytes) {
				log.warn({ object: key }, 'a file does not have the content that its row states; it stays where it is');
				return undefined;
			}
			return await writer.publish(key, about);
		} finally {
			await writer.abandon();
			await pace.rest(bytes);
		}
	}

	async #removeMoved(): Promise<void> {
		const { graceMs = keyHeldMs, store } = this.#options;
		// A backup may still have to copy them.
		if (await store.pins.any()) return;
		const until = Date.now() - graceMs;
		const due = this.#moved.filter(({ atMs }) => atMs <= until);
		this.#moved = this.#moved.filter(({ atMs }) => atMs > until);
		for (const { path } of due) {
			await rm(path, { force: true });
			// The folders of series, study and its first digits, as far as they are empty.
			for (let folder = dirname(path), level = 0; level < 3; level++, folder = dirname(folder)) {
				const isGone = await rmdir(folder).then(
					() => true,
					() => false,
				);
				if (!isGone) break;
			}
		}
	}
}
