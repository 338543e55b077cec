import { closeSync, createReadStream, renameSync } from 'node:fs';
import { opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '#core/failure.ts';
import { codeOf, FolderSync, Folders, storeFailure, syncData, unlessMissing } from './file-system.ts';
import { Incoming } from './incoming.ts';
import { isObjectKey } from './object-key.ts';
import type { ByteRange, ListedObject, ObjectStore, ObjectWriter } from './object-store.ts';

const incoming = 'incoming';
/** A buffer size: it does not change what is read. */
const readBytes = 256 * 1024;

/**
 * Stores objects as files. Below the root there is a folder for each site, `quarantine` with the same structure, and `incoming` with a
 * folder
 * for each process that writes. A file leaves `incoming` by a rename, so a file anywhere else is complete.
 */
export class FileStore implements ObjectStore {
	readonly #root: string;
	readonly #incoming: Incoming;
	readonly #syncs = new FolderSync();
	readonly #folders: Folders;

	/** Nothing is created below `root`, an absolute path, before the first object. */
	constructor(root: string) {
		this.#root = root;
		this.#incoming = new Incoming(join(root, incoming));
		this.#folders = new Folders(root, this.#syncs);
	}

	begin(head: Uint8Array): ObjectWriter {
		return this.#incoming.begin(head, {
			publish: async (temporary, key) => {
				const path = this.#path(key);
				await this.#place(temporary, path);
				// A file that cannot be removed has no row, and the sweep finds it.
				return { withdraw: () => rm(path, { force: true }).catch(() => undefined) };
			},
			sync: syncData,
		});
	}

	/**
	 * Stores a complete object, durable when this resolves. Calls that only touch memory are synchronous, because for a small object each
	 * trip
	 * through the thread pool costs more than the call. The pool syncs.
	 * @throws Failure `unavailable`; nothing is left behind then
	 */
	async put(key: string, bytes: Uint8Array): Promise<void> {
		const path = this.#path(key);
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

	#path(key: string): string {
		if (!isObjectKey(key)) throw new TypeError('not a key of the object store');
		return join(this.#root, key);
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
		const path = this.#path(key);
		return stat(path).then(
			({ size }) => size,
			(error: unknown) => unlessMissing(error, undefined),
		);
	}

	async *read(key: string, range?: ByteRange): AsyncIterable<Uint8Array> {
		if (range && range.end <= range.start) return;
		const options = range ? { start: range.start, end: range.end - 1 } : {};
		const stream = createReadStream(this.#path(key), { ...options, highWaterMark: readBytes });
		try {
			yield* stream as AsyncIterable<Buffer>;
		} catch (error) {
			if (codeOf(error) === 'ENOENT') throw new Failure('not-found', 'the object is not in the store', { cause: error });
			throw storeFailure(error);
		} finally {
			stream.destroy();
		}
	}

	async remove(key: string): Promise<boolean> {
		const path = this.#path(key);
		try {
			await rm(path);
			return true;
		} catch (error) {
			return unlessMissing(error, false);
		}
	}

	async move(from: string, to: string): Promise<void> {
		const [source, target] = [this.#path(from), this.#path(to)];
		if ((await this.size(from)) !== undefined) {
			await this.#place(source, target);
			await this.#syncs.sync(dirname(source)).catch((error: unknown) => {
				throw storeFailure(error);
			});
		} else if ((await this.size(to)) === undefined) throw new Failure('not-found', 'the object is not in the store');
	}

	async *list(): AsyncIterable<ListedObject> {
		for await (const path of this.#files(this.#root)) {
			const key = path.slice(this.#root.length + 1);
			if (!isObjectKey(key)) continue;
			// The file was removed or moved since the folder was read.
			const found = await stat(path).catch((error: unknown) => unlessMissing(error, undefined));
			if (found) yield { key, bytes: found.size, changedMs: Math.max(found.mtimeMs, found.ctimeMs) };
		}
	}

	async *#files(folder: string): AsyncIterable<string> {
		const entries = await opendir(folder).catch((error: unknown) => unlessMissing(error, undefined));
		if (!entries) return;
		for await (const entry of entries) {
			const path = join(folder, entry.name);
			if (entry.isFile()) yield path;
			else if (entry.isDirectory() && entry.name !== incoming) yield* this.#files(path);
		}
	}

	removeTemporary(): Promise<number> {
		return this.#incoming.removeTemporary();
	}
}

/** The result of closing does not matter: synced bytes are safe, and files that were not synced are removed. */
function closeQuietly(fd: number): void {
	try {
		closeSync(fd);
	} catch {}
}
