import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';

const probed = Buffer.alloc(16 * 1024);
/** A file keeps a page of that between its probes: a full disk has no more to spare. */
const kept = probed.subarray(0, 4096);
const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;

/** The first probe of a file needs room, which a full disk has not. The others write a part of it again, which takes one step and shows a disk that hangs. */
const probesOfFile = 3;

/**
 * Shows that small files can be made durable. Each step wakes the thread of an idle service, so there are few: what is written is synced at once, and a
 * file serves for some probes. It has no name while it does, so that a process that is killed leaves none behind.
 *
 * A handle, and not a descriptor: `close` waits for the step under way, and no step reaches the file of somebody else that has the number since.
 */
export class FileProbe {
	readonly #begin: (open: (path: string) => Promise<FileHandle>) => Promise<{ path: string; file: FileHandle }>;
	#held: { file: FileHandle; left: number } | undefined;

	/** @param begin opens, by what it is given, a file that is not there yet */
	constructor(begin: (open: (path: string) => Promise<FileHandle>) => Promise<{ path: string; file: FileHandle }>) {
		this.#begin = begin;
	}

	/** Only one probe may be under way. */
	async probe(): Promise<void> {
		if (this.#held === undefined || this.#held.left === 0) {
			const [, done] = await Promise.allSettled([this.close(), this.#probeAnew()]);
			if (done.status === 'rejected') throw done.reason;
			return;
		}
		this.#held.left -= 1;
		await this.#write(this.#held.file, kept);
	}

	async #probeAnew(): Promise<void> {
		const { path, file } = await this.#begin((path) => open(path, flags, 0o640));
		this.#held = { file, left: probesOfFile - 1 };
		try {
			await this.#write(file, probed);
		} finally {
			await Promise.allSettled([file.truncate(kept.length), unlink(path)]);
		}
	}

	/** A full disk writes a part, and reports the error at the next call. */
	async #write(file: FileHandle, bytes: Uint8Array): Promise<void> {
		try {
			for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten;
		} catch (error) {
			// The next probe begins with a new file.
			await this.close().catch(() => undefined);
			throw error;
		}
	}

	async close(): Promise<void> {
		const held = this.#held;
		this.#held = undefined;
		await held?.file.close();
	}
}
