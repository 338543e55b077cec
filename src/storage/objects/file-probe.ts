import { constants } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { closeFile, writeAll } from './file-system.ts';

const probed = Buffer.alloc(16 * 1024);
const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;

/** The first probe of a file needs room, which a full disk has not. The others write the same bytes again, which takes one step and shows a disk that hangs. */
const probesOfFile = 3;

/**
 * Shows that small files can be made durable. Each step wakes the thread of an idle service, so there are few: what is written is synced at once, and a
 * file serves for some probes. It has no name while it does, so that a process that is killed leaves none behind.
 */
export class FileProbe {
	readonly #next: () => string;
	readonly #open: (path: string, flags: number) => Promise<number>;
	#held: { fd: number; left: number } | undefined;

	/**
	 * @param next returns the path of a file that is not there yet
	 * @param open makes that file, and the folder if it is missing
	 */
	constructor(next: () => string, open: (path: string, flags: number) => Promise<number>) {
		this.#next = next;
		this.#open = open;
	}

	/** Only one probe may be under way. */
	async probe(): Promise<void> {
		if (this.#held === undefined || this.#held.left === 0) {
			const [, begun] = await Promise.allSettled([this.close(), this.#begin()]);
			if (begun.status === 'rejected') throw begun.reason;
			return;
		}
		this.#held.left -= 1;
		await this.#write(this.#held.fd);
	}

	async #begin(): Promise<void> {
		const path = this.#next();
		const fd = await this.#open(path, flags);
		this.#held = { fd, left: probesOfFile - 1 };
		const [written] = await Promise.allSettled([this.#write(fd), unlink(path)]);
		if (written.status === 'rejected') throw written.reason;
	}

	async #write(fd: number): Promise<void> {
		try {
			await writeAll(fd, [probed], 0);
		} catch (error) {
			// The next probe begins with a new file.
			await this.close().catch(() => undefined);
			throw error;
		}
	}

	async close(): Promise<void> {
		const held = this.#held;
		this.#held = undefined;
		if (held) await closeFile(held.fd);
	}
}
