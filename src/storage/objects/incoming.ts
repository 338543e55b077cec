import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileProbe } from './file-probe.ts';
import { codeOf, openFile, unlessMissing } from './file-system.ts';
import { FileWriter, type FileWriterOptions } from './file-writer.ts';
import { mayBeAtWork, newOwner } from './owner.ts';

/** Objects that are not complete yet: one folder for each process that writes. */
export class Incoming {
	readonly #folder: string;
	readonly #owner = newOwner();
	#count = 0;
	readonly probe = new FileProbe(async (open) => {
		const path = this.#next();
		return { path, file: await this.#inFolder(path, () => open(path)) };
	});

	/** Nothing is created below the folder, an absolute path, before the first object. */
	constructor(folder: string) {
		this.#folder = folder;
	}

	begin(head: Uint8Array, options: FileWriterOptions): FileWriter {
		const path = this.#next();
		return new FileWriter(path, this.#open(path), head, options);
	}

	/** Writes a whole file at once and blocks the thread meanwhile; the descriptor is not synced. */
	write(bytes: Uint8Array): { path: string; fd: number } {
		const path = this.#next();
		const fd = this.#openNow(path);
		try {
			for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
		} catch (error) {
			closeSync(fd);
			rmSync(path, { force: true });
			throw error;
		}
		return { path, fd };
	}

	#next(): string {
		this.#count += 1;
		return join(this.#folder, this.#owner, `${this.#count}.part`);
	}

	#openNow(path: string): number {
		try {
			return openSync(path, 'wx', 0o640);
		} catch (error) {
			if (codeOf(error) !== 'ENOENT') throw error;
			// The first object of this thread.
			mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
			return openSync(path, 'wx', 0o640);
		}
	}

	#open(path: string): Promise<number> {
		return this.#inFolder(path, () => openFile(path, 'wx', 0o640));
	}

	async #inFolder<T>(path: string, open: () => Promise<T>): Promise<T> {
		try {
			return await open();
		} catch (error) {
			if (codeOf(error) !== 'ENOENT') throw error;
			// The first object of this process.
			await mkdir(dirname(path), { recursive: true, mode: 0o750 });
			return open();
		}
	}

	/** Removes files that ended processes have left behind; returns their number. */
	async removeTemporary(): Promise<number> {
		let removed = 0;
		const owners = await readdir(this.#folder).catch((error: unknown) => unlessMissing(error, [] as string[]));
		for (const owner of owners) {
			const path = join(this.#folder, owner);
			if (owner === this.#owner || (await this.#isAtWork(owner, path))) continue;
			removed += (await readdir(path)).length;
			await rm(path, { recursive: true, force: true });
		}
		return removed;
	}

	/** Tells whether the process to which a folder belongs may still write. */
	async #isAtWork(owner: string, path: string): Promise<boolean> {
		return mayBeAtWork(owner, async () => (await stat(path)).mtimeMs);
	}
}
