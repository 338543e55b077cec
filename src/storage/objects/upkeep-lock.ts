import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from './file-system.ts';
import { mayBeAtWork } from './owner.ts';

/** A lock of another host that nobody has touched for so long is that of a process that has ended. */
const strangerMs = 600_000;

/**
 * Lets one process at a time look after the segments of a folder. It spares work and is not needed for safety: whatever two of them do to one
 * segment, rows are changed only in the turns of their sites, and only where they name what was copied.
 */
export class UpkeepLock {
	readonly #path: string;
	readonly #owner: string;

	constructor(folder: string, owner: string) {
		this.#path = join(folder, 'upkeep.lock');
		this.#owner = owner;
	}

	/** Returns true when this process has the lock from now on, or had it before. */
	async take(): Promise<boolean> {
		if (await this.#create()) return true;
		const holder = await readFile(this.#path, 'utf8').catch(() => undefined);
		if (holder === this.#owner) {
			const now = new Date();
			await utimes(this.#path, now, now).catch(() => undefined);
			return true;
		}
		if (holder === undefined || (await mayBeAtWork(holder, () => this.#touchedMs(), strangerMs))) return false;
		// Several may find that the holder has ended. One of them moves its lock away.
		const aside = `${this.#path}.${this.#owner}`;
		await rename(this.#path, aside).catch(() => undefined);
		await rm(aside, { force: true });
		return this.#create();
	}

	async #create(): Promise<boolean> {
		try {
			const file = await open(this.#path, 'wx', 0o640);
			await file.write(this.#owner).finally(() => file.close());
			return true;
		} catch (error) {
			if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false;
			throw error;
		}
	}

	async #touchedMs(): Promise<number> {
		return (await stat(this.#path).catch(() => undefined))?.mtimeMs ?? 0;
	}

	async giveBack(): Promise<void> {
		const holder = await readFile(this.#path, 'utf8').catch(() => undefined);
		if (holder === this.#owner) await rm(this.#path, { force: true });
	}
}
