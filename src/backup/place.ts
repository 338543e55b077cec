import { createHash } from 'node:crypto';

/** A file of a backup, by its path below the place. */
export interface StoredFile {
	path: string;
	bytes: number;
	/** Hex SHA-256 of its content. */
	sha256: string;
}

/** Backups are kept in a place: a folder, or a part of a bucket. A file is there whole or not at all, and is never changed. */
export interface BackupPlace {
	/** The name by which people know it. */
	readonly name: string;
	/** Returns what is known of a file that is there; undefined when there is none. Nothing of it is read. */
	find(path: string): Promise<StoredFile | undefined>;
	/** Stores a file; it is durable when this resolves. Nothing is left behind when `content` throws. */
	put(path: string, content: AsyncIterable<Uint8Array>): Promise<StoredFile>;
	/** @throws Error when the file is not there */
	read(path: string): AsyncIterable<Uint8Array>;
	/** The names of the folders directly below a folder. */
	folders(path: string): Promise<string[]>;
	/** All files below a folder, by their paths. */
	files(path: string): AsyncIterable<string>;
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

/** Reads a file and compares it with what its manifest states. @throws DamagedFile at its end; Error when it is not there */
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

/** Text as the content of a file. */
export async function* contentOf(text: string): AsyncIterable<Uint8Array> {
	yield Buffer.from(text);
}
