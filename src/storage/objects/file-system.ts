import { close, constants, fdatasync, fsync, open, writev } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '#core/failure.ts';

const knownFoldersMax = 10_000;

/** File descriptors without FileHandle: half the round trips of the promises API on the way of every instance. */
export const openFile = promisify(open);
export const closeFile = promisify(close);
export const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);
const writeVector = promisify(writev) as (fd: number, buffers: readonly Uint8Array[]) => Promise<{ bytesWritten: number }>;

export function codeOf(error: unknown): string | undefined {
	const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
	return typeof code === 'string' ? code : undefined;
}

const fullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** A fault of the disk in the words of a refusal. */
export function storeFailure(error: unknown): Failure {
	if (error instanceof Failure) return error;
	const isFull = fullCodes.has(codeOf(error) ?? '');
	return new Failure('unavailable', isFull ? 'the object store is full' : 'the object store does not take the object', { cause: error });
}

/** All of the buffers: a disk that fills up writes a part, and says why at the next call. */
export async function writeAll(fd: number, buffers: readonly Uint8Array[]): Promise<void> {
	let left = [...buffers];
	while (left.length > 0) {
		let { bytesWritten } = await writeVector(fd, left);
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

/** What was created, renamed or removed in a folder survives a loss of power when this resolves. */
async function syncFolder(path: string): Promise<void> {
	const fd = await openFile(path, constants.O_RDONLY | constants.O_DIRECTORY);
	try {
		await syncAll(fd);
	} finally {
		await closeFile(fd);
	}
}

/** Many objects of one series arrive at once: whoever asks while a folder is being synced shares the next round. */
export class FolderSync {
	readonly #running = new Map<string, { current: Promise<void>; next: Promise<void> | undefined }>();

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
		const round: { current: Promise<void>; next: Promise<void> | undefined } = { current: syncFolder(path), next: undefined };
		this.#running.set(path, round);
		const forget = () => {
			if (this.#running.get(path) === round && round.next === undefined) this.#running.delete(path);
		};
		round.current.then(forget, forget);
		return round.current;
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

	/** Somebody removed it, or it could not be made. */
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
		// Also when it was there: who made it may have been killed before this.
		await this.#syncs.sync(above);
	}
}
