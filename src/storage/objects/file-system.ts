import { close, constants, fdatasync, fstatSync, fsync, open, writev } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '#core/failure.ts';

/** The size of a cache. A folder that is not in it is looked up anew. */
const knownFoldersMax = 10_000;

/** File descriptors without FileHandle: half the round trips of the promises API on the way of every instance. */
export const openFile = promisify(open);
export const closeFile = promisify(close);
export const syncData = promisify(fdatasync);
export const syncAll = promisify(fsync);
const writeVector = promisify(writev) as (
	fd: number,
	buffers: readonly Uint8Array[],
	position?: number,
) => Promise<{ bytesWritten: number }>;

export function codeOf(error: unknown): string | undefined {
	const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
	return typeof code === 'string' ? code : undefined;
}

const fullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Describes a fault of the disk as a refusal. */
export function storeFailure(error: unknown): Failure {
	if (error instanceof Failure) return error;
	const isFull = fullCodes.has(codeOf(error) ?? '');
	return new Failure('unavailable', isFull ? 'the object store is full' : 'the object store does not take the object', { cause: error });
}

/** @throws Failure `unavailable` for every error but a missing file */
export function unlessMissing<T>(error: unknown, missing: T): T {
	if (codeOf(error) === 'ENOENT') return missing;
	throw storeFailure(error);
}

/**
 * Writes all of the buffers, from a position on or, without one, behind what was written last. A full disk writes a part and reports the error at
 * the next call.
 */
export async function writeAll(fd: number, buffers: readonly Uint8Array[], position?: number): Promise<void> {
	let left = [...buffers];
	let written = 0;
	while (left.length > 0) {
		let { bytesWritten } = await writeVector(fd, left, position === undefined ? undefined : position + written);
		written += bytesWritten;
		const whole = left.findIndex((buffer) => {
			if (buffer.length > bytesWritten) return true;
			bytesWritten -= buffer.length;
			return false;
		});
		if (whole < 0) return;
		left = left.slice(whole);
		left[0] = (left[0] as Uint8Array).subarray(bytesWritten);
	}
}

/** Makes a creation or a rename in a folder survive a loss of power. Whoever writes many files has `FolderSync`. */
export async function syncFolder(path: string): Promise<void> {
	const folder = await openFile(path, constants.O_RDONLY | constants.O_DIRECTORY);
	await syncAll(folder).finally(() => closeFile(folder));
}

/** The size of a cache of open folders, far below the usual limit of open files of a process. */
const openFoldersMax = 256;

/**
 * Makes creations, renames and removals in a folder survive a loss of power when `sync` resolves. Many objects of one series arrive at
 * once,
 * so callers that come while a folder is being synced share the next round. The folders of the last rounds stay open.
 */
export class FolderSync {
	readonly #running = new Map<string, { current: Promise<void>; next: Promise<void> | undefined }>();
	readonly #open = new Map<string, Promise<number>>();

	async sync(path: string): Promise<void> {
		const round = this.#running.get(path);
		if (!round) return this.#start(path);
		round.next ??= round.current.then(
			() => this.#start(path),
			() => this.#start(path),
		);
		return round.next;
	}

	#start(path: string): Promise<void> {
		const round: { current: Promise<void>; next: Promise<void> | undefined } = { current: this.#sync(path), next: undefined };
		this.#running.set(path, round);
		const forget = () => {
			if (this.#running.get(path) === round && round.next === undefined) this.#running.delete(path);
		};
		round.current.then(forget, forget);
		return round.current;
	}

	async #sync(path: string): Promise<void> {
		const fd = await this.#descriptor(path);
		try {
			// Syncing a folder that was removed meanwhile has no effect, so its successor must be opened.
			await (fstatSync(fd).nlink === 0 ? this.#reopened(path) : syncAll(fd));
		} catch (error) {
			await this.#drop(path);
			throw error;
		}
	}

	async #reopened(path: string): Promise<void> {
		await this.#drop(path);
		await syncAll(await this.#descriptor(path));
	}

	#descriptor(path: string): Promise<number> {
		const known = this.#open.get(path);
		if (known) return known;
		const opened = openFile(path, constants.O_RDONLY | constants.O_DIRECTORY);
		this.#open.set(path, opened);
		opened.catch(() => this.#open.delete(path));
		for (const oldest of this.#open.keys()) {
			if (this.#open.size <= openFoldersMax) break;
			// The current folder is about to be synced but is not among those that are running.
			if (oldest !== path && !this.#running.has(oldest)) void this.#drop(oldest);
		}
		return opened;
	}

	async #drop(path: string): Promise<void> {
		const opened = this.#open.get(path);
		this.#open.delete(path);
		// A folder that is only read has nothing to lose when it is closed.
		await opened?.then(closeFile).catch(() => undefined);
	}
}

/** Folders below a root that are known to be there and durable, made when first asked for. */
export class Folders {
	readonly #root: string;
	readonly #syncs: FolderSync;
	readonly #ready = new Map<string, Promise<void>>();

	constructor(root: string, syncs: FolderSync) {
		this.#root = root;
		this.#syncs = syncs;
	}

	/** Resolves when the folder and everything above it would survive a loss of power. */
	prepare(folder: string): Promise<void> {
		let ready = this.#ready.get(folder);
		if (ready) return ready;
		if (this.#ready.size >= knownFoldersMax) this.#ready.clear();
		ready = this.#make(folder);
		this.#ready.set(folder, ready);
		ready.catch(() => this.forget(folder));
		return ready;
	}

	/** Forgets a folder that somebody removed or that could not be made. */
	forget(folder: string): void {
		for (let path = folder; path.length >= this.#root.length; path = dirname(path)) {
			this.#ready.delete(path);
			if (path === dirname(path)) break;
		}
	}

	async #make(folder: string): Promise<void> {
		const above = dirname(folder);
		if (folder === this.#root) {
			const first = await mkdir(folder, { recursive: true, mode: 0o750 });
			for (let path = folder; first !== undefined && path.length >= first.length; path = dirname(path))
				await this.#syncs.sync(dirname(path));
			return;
		}
		await this.prepare(above);
		await mkdir(folder, { mode: 0o750 }).catch((error: unknown) => {
			if (codeOf(error) !== 'EEXIST') throw error;
		});
		// This is needed even if the folder existed: the process that made it may have been killed before this point.
		await this.#syncs.sync(above);
	}
}
