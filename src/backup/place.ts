import { createHash } from 'node:crypto';

/** A file of a backup, by its path below the place. */
export interface StoredFile {
	path: string;
	bytes: number;
	/** Hex SHA-256 of its content. */
	sha256: string;
}

/** A file of a place, whole or not. */
export interface PresentFile {
	path: string;
	bytes: number;
}

/** Backups are kept in a place: a folder, or a part of a bucket. A file is there whole or not at all, and is never changed. */
export interface BackupPlace {
	/** The name by which people know it. */
	readonly name: string;
	/** Returns what is known of a file that is there; undefined when there is none. Nothing of it is read. */
	find(path: string): Promise<StoredFile | undefined>;
	/** Stores a file; it is durable when this resolves. Nothing is left behind when `content` throws. */
	put(path: string, content: AsyncIterable<Uint8Array>): Promise<StoredFile>;
	/** @throws MissingFile */
	read(path: string): AsyncIterable<Uint8Array>;
	/** The names of the folders directly below a folder. */
	folders(path: string): Promise<string[]>;
	/** All files below a folder, and what a removal or a writer that was cut off left of one. */
	files(path: string): AsyncIterable<PresentFile>;
	/** Removes a file and all that belongs to it; a repeated call is harmless. */
	remove(path: string): Promise<void>;
	close(): Promise<void>;
}

/** Paths are made by the product; a manifest that was tampered with must not lead out of the place or of the store. */
const pathPattern = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/** @throws Error for a path that no backup has */
export function checkedPath(path: string): string {
	if (!pathPattern.test(path)) throw new Error('the backup names a file by a path that no backup has');
	return path;
}

/** Passes chunks on and notes their number of bytes and digest. */
export class Measured {
	readonly #hash = createHash('sha256');
	bytes = 0;

	async *of(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
		for await (const chunk of content) {
			this.#hash.update(chunk);
			this.bytes += chunk.length;
			yield chunk;
		}
	}

	/** Ends the measuring. */
	digest(): string {
		return this.#hash.digest('hex');
	}
}

/** The content of a file is not what the manifest states. */
export class DamagedFile extends Error {
	override readonly name = 'DamagedFile';
	readonly path: string;

	constructor(path: string) {
		super(`the backup is damaged: ${path} does not have the SHA-256 of its manifest`);
		this.path = path;
	}
}

/** A file is not in its place. */
export class MissingFile extends Error {
	override readonly name = 'MissingFile';

	constructor(path: string, cause: unknown) {
		super(`the backup lacks ${path}`, { cause });
	}
}

/** Reads a file and compares it with what its manifest states. @throws DamagedFile at its end; MissingFile */
export async function* checkedContent(place: BackupPlace, { path, bytes, sha256 }: StoredFile): AsyncIterable<Uint8Array> {
	const measured = new Measured();
	yield* measured.of(place.read(checkedPath(path)));
	if (measured.bytes !== bytes || measured.digest() !== sha256) throw new DamagedFile(path);
}

export async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of content) chunks.push(chunk);
	return Buffer.concat(chunks).toString('utf8');
}

/** Returns the content of a small file; undefined when it is not there, which another process may bring about at any time. */
export async function textIfThere(place: BackupPlace, path: string): Promise<string | undefined> {
	try {
		return await textOf(place.read(path));
	} catch (error) {
		if (error instanceof MissingFile) return undefined;
		throw error;
	}
}

/** Text as the content of a file. */
export async function* contentOf(text: string): AsyncIterable<Uint8Array> {
	yield Buffer.from(text);
}
