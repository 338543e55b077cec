import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '#storage/objects/file-system.ts';
import { type BackupPlace, checkedPath, Measured, MissingFile, type PresentFile, type StoredFile } from './place.ts';

const digestSuffix = '.sha256';
const partSuffix = '.part';
/** A buffer size. */
const readBytes = 1024 * 1024;

function unlessMissing<T>(error: unknown, missing: T): T {
	if ((error as NodeJS.ErrnoException).code === 'ENOENT') return missing;
	throw error;
}

/**
 * Backups in a folder. Beside each file lies its digest, in the form that `sha256sum --check` reads. A file gets its name when all of it is
 * durable; only the user who made the backup may read it, because it holds what patients sent.
 */
export class FolderPlace implements BackupPlace {
	readonly name: string;
	readonly #root: string;
	#made = new Set<string>();

	/** @param root an absolute path */
	constructor(root: string) {
		this.name = root;
		this.#root = root;
	}

	#pathOf(path: string): string {
		return join(this.#root, checkedPath(path));
	}

	async find(path: string): Promise<StoredFile | undefined> {
		const at = this.#pathOf(path);
		const found = await stat(at).catch((error: unknown) => unlessMissing(error, undefined));
		const noted = await readFile(at + digestSuffix, 'utf8').catch((error: unknown) => unlessMissing(error, ''));
		const [, sha256] = /^([0-9a-f]{64}) /.exec(noted) ?? [];
		return found === undefined || sha256 === undefined ? undefined : { path, bytes: found.size, sha256 };
	}

	async put(path: string, content: AsyncIterable<Uint8Array>): Promise<StoredFile> {
		const at = this.#pathOf(path);
		const part = at + partSuffix;
		await this.#prepare(dirname(at));
		const measured = new Measured();
		try {
			const file = await open(part, 'w', 0o600);
			await written(file, measured.of(content)).finally(() => file.close());
			const sha256 = measured.digest();
			await writeFile(at + digestSuffix, `${sha256}  ${basename(at)}\n`, { mode: 0o600, flush: true });
			await rename(part, at);
			await syncFolder(dirname(at));
			return { path, bytes: measured.bytes, sha256 };
		} catch (error) {
			await rm(part, { force: true });
			throw error;
		}
	}

	async #prepare(folder: string): Promise<void> {
		if (this.#made.has(folder)) return;
		const first = await mkdir(folder, { recursive: true, mode: 0o700 });
		for (let made = folder; first !== undefined && made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
		this.#made.add(folder);
	}

	async *read(path: string): AsyncIterable<Uint8Array> {
		const stream = createReadStream(this.#pathOf(path), { highWaterMark: readBytes });
		try {
			yield* stream as AsyncIterable<Buffer>;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new MissingFile(path, error);
			throw error;
		} finally {
			stream.destroy();
		}
	}

	async folders(path: string): Promise<string[]> {
		const names: string[] = [];
		const entries = await opendir(this.#pathOf(path)).catch((error: unknown) => unlessMissing(error, undefined));
		for await (const entry of entries ?? []) if (entry.isDirectory()) names.push(entry.name);
		return names.sort();
	}

	async *files(path: string): AsyncIterable<PresentFile> {
		const entries = await opendir(this.#pathOf(path)).catch((error: unknown) => unlessMissing(error, undefined));
		for await (const entry of entries ?? []) {
			const below = `${path}/${entry.name}`;
			if (entry.isDirectory()) yield* this.files(below);
			else if (!entry.name.endsWith(digestSuffix)) {
				const found = await stat(this.#pathOf(below)).catch((error: unknown) => unlessMissing(error, undefined));
				if (found) yield { path: below.endsWith(partSuffix) ? below.slice(0, -partSuffix.length) : below, bytes: found.size };
			}
		}
	}

	/** The digest goes first: without one a file is not there for a backup, and is still found by whoever removes. */
	async remove(path: string): Promise<void> {
		const at = this.#pathOf(path);
		for (const each of [at + digestSuffix, at + partSuffix, at]) await rm(each, { force: true });
		// Its folders go when they are empty.
		for (let folder = dirname(at); folder.length > this.#root.length; folder = dirname(folder)) {
			const isGone = await removedWhenEmpty(folder);
			this.#made.delete(folder);
			if (!isGone) return;
		}
	}

	async close(): Promise<void> {}
}

async function written(file: FileHandle, content: AsyncIterable<Uint8Array>): Promise<void> {
	for await (const chunk of content) await file.writeFile(chunk);
	await file.sync();
}

async function removedWhenEmpty(folder: string): Promise<boolean> {
	return rmdir(folder).then(
		() => true,
		() => false,
	);
}
