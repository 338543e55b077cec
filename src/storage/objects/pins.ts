import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repeatedly } from '#core/watch.ts';
import { codeOf, storeFailure } from './file-system.ts';

/** A pin that nobody has touched for so long is that of a backup that has ended. */
export const pinnedMs = 600_000;
export const touchMs = 60_000;

/** A pin that is held. */
export interface Pin {
	release(): Promise<void>;
}

/**
 * While a backup holds a pin, nothing leaves the folder of a store: segments that were emptied and files that were moved stay, and what is removed
 * is put aside. So every object that the backup has found named is still there when its turn comes. Pins are files of the folder, so all
 * nodes that share it keep to them.
 */
export class Pins {
	readonly #folder: string;

	constructor(root: string) {
		this.#folder = join(root, 'pins');
	}

	/** Tells whether a backup is at work. @throws Failure `unavailable` */
	async any(): Promise<boolean> {
		try {
			for (const name of await readdir(this.#folder)) {
				const found = await stat(join(this.#folder, name)).catch(() => undefined);
				if (found !== undefined && found.mtimeMs > Date.now() - pinnedMs) return true;
			}
			return false;
		} catch (error) {
			if (codeOf(error) === 'ENOENT') return false;
			// The folder of a backup by another user cannot be read, and says enough.
			if (codeOf(error) === 'EACCES') return true;
			throw storeFailure(error);
		}
	}

	/** Holds a pin, and touches it, until it is released or this process ends. */
	async take(name: string): Promise<Pin> {
		const path = join(this.#folder, name);
		await mkdir(this.#folder, { recursive: true, mode: 0o750 });
		await this.#removeOld();
		await writeFile(path, '', { mode: 0o640 });
		const leave = repeatedly(touchMs, () => utimes(path, new Date(), new Date()));
		return {
			release: async () => {
				await leave();
				await rm(path, { force: true });
			},
		};
	}

	async #removeOld(): Promise<void> {
		for (const name of await readdir(this.#folder)) {
			const found = await stat(join(this.#folder, name)).catch(() => undefined);
			if (found !== undefined && found.mtimeMs <= Date.now() - pinnedMs) await rm(join(this.#folder, name), { force: true });
		}
	}
}
