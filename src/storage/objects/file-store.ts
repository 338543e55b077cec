import { closeSync, createReadStream, renameSync } from 'node:fs';
import { mkdir, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '#core/failure.ts';
import { codeOf, FolderSync, Folders, storeFailure, syncData, unlessMissing } from './file-system.ts';
import type { FileWriter } from './file-writer.ts';
import { Incoming } from './incoming.ts';
import { isObjectKey, placedKey, placeOf, publishedKey } from './object-key.ts';
import type { ByteRange, HeldObject, ListedObject, ObjectDescription, ObjectStore, ObjectWriter, PlacedObject } from './object-store.ts';
import { Pins } from './pins.ts';
import { Removals } from './removals.ts';
import { SegmentObject } from './segment-object.ts';
import { SegmentReader } from './segment-reader.ts';
import { checksumOf, SegmentWriter, type SegmentWriterOptions } from './segment-writer.ts';

const incoming = 'incoming';
export const segmentsFolder = 'segments';
const held = 'held';
/** These folders hold no published object that is a file. */
const others: ReadonlySet<string> = new Set([incoming, segmentsFolder, held, 'pins']);
/** A buffer size: it does not change what is read. */
const readBytes = 256 * 1024;

/** Says how a process stores objects in segments. */
export interface SegmentSettings extends Omit<SegmentWriterOptions, 'folder' | 'besides'> {
	/** Longer objects are files of their own. With 0 all are. */
	objectBytesMax: number;
}

/** An object that is whole in memory, with what the sender's thread knows of it. */
export interface WholeObject {
	about: ObjectDescription;
	bytes: Uint8Array;
	/** The size of the head of the DICOM file, which the digest does not cover. */
	headBytes: number;
	/** Hex SHA-256 of the rest. */
	digest: string;
}

/**
 * Stores objects below a folder: in segments, many to a file, and long ones as files of their own. Below the root there is `segments`, a
 * folder of such files for each site, `quarantine` with the same structure, and `incoming` with a folder for each process that writes. A
 * file leaves `incoming` by a rename, so a file anywhere else is complete.
 */
export class FileStore implements ObjectStore {
	readonly #root: string;
	readonly #incoming: Incoming;
	readonly #syncs = new FolderSync();
	readonly #folders: Folders;
	readonly #objectBytesMax: number;
	readonly #appending: SegmentWriter | undefined;
	readonly segments: SegmentReader;
	readonly removals: Removals;
	readonly pins: Pins;

	/** Nothing is created below `root`, an absolute path, before the first object. Without `segments` every object becomes a file. */
	constructor(root: string, segments?: SegmentSettings) {
		this.#root = root;
		this.#incoming = new Incoming(join(root, incoming));
		this.#folders = new Folders(root, this.#syncs);
		const folder = join(root, segmentsFolder);
		this.segments = new SegmentReader(folder);
		this.removals = new Removals(folder);
		this.pins = new Pins(root);
		this.#objectBytesMax = segments?.objectBytesMax ?? 0;
		if (segments && segments.objectBytesMax > 0) {
			const besides = join(root, incoming);
			this.#appending = new SegmentWriter({ ...segments, folder, besides }, this.#folders, this.#syncs);
		}
	}

	begin(head: Uint8Array): ObjectWriter {
		const segments = this.#appending;
		const beginFile = () => this.#beginFile(head);
		return segments ? new SegmentObject(head, { segments, objectBytesMax: this.#objectBytesMax, beginFile }) : beginFile();
	}

	#beginFile(head: Uint8Array): FileWriter {
		return this.#incoming.begin(head, {
			publish: async (temporary, key) => {
				const path = this.pathOf(key);
				await this.#place(temporary, path);
				// A file that cannot be removed has no row, and the sweep finds it.
				return { withdraw: () => rm(path, { force: true }).catch(() => undefined) };
			},
			sync: syncData,
		});
	}

	/** Stores a whole object. Its key is known at once; it may be named by a row that is committed when the object is durable. */
	place(key: string, { bytes, headBytes, digest, about }: WholeObject): PlacedObject {
		if (!this.#appending || bytes.length > this.#objectBytesMax) return { key, durable: this.put(key, bytes) };
		const preambleChecksum = checksumOf(bytes.subarray(0, headBytes));
		const content = { pieces: [bytes], bytes: bytes.length, preambleBytes: headBytes, preambleChecksum, digest };
		return this.#appending.append(key, about, content);
	}

	/**
	 * Stores a complete object as a file, durable when this resolves. Calls that only touch memory are synchronous, because for a small object each
	 * trip
	 * through the thread pool costs more than the call. The pool syncs.
	 * @throws Failure `unavailable`; nothing is left behind then
	 */
	async put(key: string, bytes: Uint8Array): Promise<void> {
		const path = this.pathOf(key);
		const folder = dirname(path);
		let written: { path: string; fd: number } | undefined;
		try {
			const { path: temporary, fd } = this.#incoming.write(bytes);
			written = { path: temporary, fd };
			await this.#within(folder, () => renameSync(temporary, path));
			await Promise.all([syncData(fd), this.#syncs.sync(folder)]);
		} catch (error) {
			for (const left of written === undefined ? [] : [written.path, path]) await rm(left, { force: true }).catch(() => undefined);
			throw storeFailure(error);
		} finally {
			if (written) closeQuietly(written.fd);
		}
	}

	/** Renames into a folder that somebody may remove while it is empty. */
	async #within(folder: string, rename: () => void | Promise<void>): Promise<void> {
		await this.#folders.prepare(folder);
		try {
			await rename();
		} catch (error) {
			if (codeOf(error) !== 'ENOENT') throw error;
			this.#folders.forget(folder);
			await this.#folders.prepare(folder);
			await rename();
		}
	}

	/**
	 * Returns the path of an object that is a file of its own. One that was a record of another store and came from there keeps its key, and
	 * stays where it is, in quarantine or not.
	 */
	pathOf(key: string): string {
		if (!isObjectKey(key)) throw new TypeError('not a key of the object store');
		return join(this.#root, placeOf(key) ? publishedKey(key) : key);
	}

	/** Renames into a folder that may not exist yet; durable when this resolves. */
	async #place(from: string, to: string): Promise<void> {
		const folder = dirname(to);
		try {
			await this.#within(folder, () => rename(from, to));
			await this.#syncs.sync(folder);
		} catch (error) {
			throw storeFailure(error);
		}
	}

	async size(key: string): Promise<number | undefined> {
		const place = placeOf(key);
		if (place && (await this.removals.of(place.segment)).has(place.offset)) return undefined;
		const recorded = place && (await this.segments.size(place));
		if (recorded !== undefined) return recorded;
		const path = this.pathOf(key);
		return stat(path).then(
			({ size }) => size,
			(error: unknown) => unlessMissing(error, undefined),
		);
	}

	async *read(key: string, range?: ByteRange): AsyncIterable<Uint8Array> {
		const place = placeOf(key);
		if (place) {
			let isBegun = false;
			try {
				for await (const piece of this.segments.read(place, range)) {
					isBegun = true;
					yield piece;
				}
				return;
			} catch (error) {
				if (isBegun || !(error instanceof Failure) || error.code !== 'not-found') throw error;
			}
		}
		if (range && range.end <= range.start) return;
		const options = range ? { start: range.start, end: range.end - 1 } : {};
		const stream = createReadStream(this.pathOf(key), { ...options, highWaterMark: readBytes });
		try {
			yield* stream as AsyncIterable<Buffer>;
		} catch (error) {
			if (codeOf(error) === 'ENOENT') throw new Failure('not-found', 'the object is not in the store', { cause: error });
			throw storeFailure(error);
		} finally {
			stream.destroy();
		}
	}

	/** A record is only noted as removed: it goes when its segment is compacted, and whoever has its key may read it until then. */
	async remove(key: string): Promise<boolean> {
		const place = placeOf(key);
		const recorded = place && (await this.segments.size(place));
		if (place && recorded !== undefined) {
			const bytes = await this.size(key);
			if (bytes !== undefined) await this.removals.note(place, bytes);
			return bytes !== undefined;
		}
		const path = this.pathOf(key);
		try {
			if (await this.pins.any()) await this.#hold(path, this.heldPathOf(key));
			else await rm(path);
			return true;
		} catch (error) {
			return unlessMissing(error, false);
		}
	}

	/** Returns where a file lies that was removed while a backup was at work. */
	heldPathOf(key: string): string {
		return join(this.#root, held, this.pathOf(key).slice(this.#root.length + 1));
	}

	/** Returns an object that was removed while a backup was at work. */
	async held(key: string): Promise<HeldObject | undefined> {
		const path = this.heldPathOf(key);
		const found = await stat(path).catch((error: unknown) => unlessMissing(error, undefined));
		return found && { bytes: found.size, content: () => createReadStream(path, { highWaterMark: readBytes }) };
	}

	async #hold(path: string, aside: string): Promise<void> {
		await mkdir(dirname(aside), { recursive: true, mode: 0o750 });
		await rename(path, aside);
	}

	/** Removes the files that were kept for a backup, unless one is still at work. */
	async removeHeld(): Promise<void> {
		if (!(await this.pins.any())) await rm(join(this.#root, held), { recursive: true, force: true });
	}

	/** A record stays where it is: the rows say whether it is the instance or kept aside. */
	async move(from: string, to: string): Promise<void> {
		if (placeOf(from)) {
			if ((await this.size(from)) === undefined) throw new Failure('not-found', 'the object is not in the store');
			return;
		}
		const [source, target] = [this.pathOf(from), this.pathOf(to)];
		if ((await this.size(from)) !== undefined) {
			await this.#place(source, target);
			await this.#syncs.sync(dirname(source)).catch((error: unknown) => {
				throw storeFailure(error);
			});
		} else if ((await this.size(to)) === undefined) throw new Failure('not-found', 'the object is not in the store');
	}

	async *list(): AsyncIterable<ListedObject> {
		yield* this.files();
		for (const segment of await this.segments.list()) yield* this.#records(segment);
	}

	/** Lists the objects that are files of their own. */
	async *files(): AsyncIterable<ListedObject> {
		for await (const path of this.#files(this.#root)) {
			const key = path.slice(this.#root.length + 1);
			if (!isObjectKey(key)) continue;
			// The file was removed or moved since the folder was read.
			const found = await stat(path).catch((error: unknown) => unlessMissing(error, undefined));
			if (found) yield { key, bytes: found.size, changedMs: Math.max(found.mtimeMs, found.ctimeMs) };
		}
	}

	async *#records(segment: string): AsyncIterable<ListedObject> {
		const removed = await this.removals.of(segment);
		for await (const { record } of this.segments.scan(segment)) {
			if (record === undefined || removed.has(record.offset)) continue;
			const { text: about, offset, digest, contentBytes: bytes, writtenMs: changedMs } = record;
			yield { key: placedKey({ siteId: about.site, segment, offset, id: about.id }), bytes, changedMs, digest, about };
		}
	}

	async *#files(folder: string): AsyncIterable<string> {
		const entries = await opendir(folder).catch((error: unknown) => unlessMissing(error, undefined));
		if (!entries) return;
		for await (const entry of entries) {
			const path = join(folder, entry.name);
			if (entry.isFile()) yield path;
			else if (entry.isDirectory() && !(folder === this.#root && others.has(entry.name))) yield* this.#files(path);
		}
	}

	async probe(): Promise<void> {
		try {
			await this.#incoming.probe.probe();
		} catch (error) {
			throw storeFailure(error);
		}
	}

	/** Only `BoundedStore` knows that, since it bounds the waits. */
	expectAnswer(): void {}

	removeTemporary(): Promise<number> {
		return this.#incoming.removeTemporary();
	}

	async close(): Promise<void> {
		await Promise.all([this.#appending?.close(), this.#incoming.probe.close()]);
	}
}

/** The result of closing does not matter: synced bytes are safe, and files that were not synced are removed. */
function closeQuietly(fd: number): void {
	try {
		closeSync(fd);
	} catch {}
}
