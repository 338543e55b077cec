import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Failure } from '#core/failure.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { placeOf, publishedKey, quarantineKey } from '#storage/objects/object-key.ts';
import type { S3Store } from '#storage/objects/s3-store.ts';
import { folderOf, type ListedFile } from './manifest.ts';
import type { BackupPlace } from './place.ts';
import { type Progress, sizeText } from './progress.ts';

/** An object that a row of the cut names: a file of its own, or a record of a segment. */
export type NamedObject =
	| { key: string /** It is kept in quarantine. */; isAside: boolean; segment?: undefined }
	| { segment: string; offset: number };

/** Reads a line of the objects that rows name. */
export function namedObjectOf(line: string): NamedObject {
	const [kind, key = ''] = line.split('\t');
	const place = placeOf(publishedKey(key));
	return place ?? { key, isAside: kind === 'q' };
}

/** Objects that are copied at the same time. More would keep the store from the instances that come in. */
const atOnce = 8;
const readBytes = 1024 * 1024;
const examplesMax = 20;
/** Nobody moves an object to and fro. */
const looksMax = 3;

/** A store says it as a Failure, and a file that is kept for backups as the system does. */
function isMovedAway(error: unknown): boolean {
	return (error instanceof Failure && error.code === 'not-found') || (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** Copies the objects of a cut into its place. What is there already is left as it is. */
export class CopiedObjects {
	named = 0;
	files = 0;
	bytes = 0;
	/** The part of `bytes` that this backup copied. */
	bytesCopied = 0;
	missing = 0;
	readonly examples: string[] = [];
	readonly #place: BackupPlace;
	readonly #store: FileStore | S3Store;
	readonly #cut: string;
	readonly #progress: Progress;

	constructor(given: { place: BackupPlace; store: FileStore | S3Store; cut: string; progress: Progress }) {
		this.#place = given.place;
		this.#store = given.store;
		this.#cut = given.cut;
		this.#progress = given.progress;
	}

	/** Copies the objects, and yields the files that hold them. */
	async *of(named: AsyncIterable<NamedObject>): AsyncIterable<ListedFile> {
		/** The last offset that is named, by segment. */
		const segments = new Map<string, number>();
		let running: Promise<ListedFile | undefined>[] = [];
		for await (const object of named) {
			this.named += 1;
			if (object.segment !== undefined) {
				segments.set(object.segment, Math.max(object.offset, segments.get(object.segment) ?? 0));
				continue;
			}
			const copying = this.#file(object);
			copying.catch(() => undefined);
			running.push(copying);
			if (running.length < atOnce) continue;
			yield* await settled(running);
			running = [];
		}
		yield* await settled(running);
		for (const [segment, offset] of segments) {
			const copied = await this.#segment(segment, offset);
			if (copied !== undefined) yield copied;
		}
	}

	/** An object that is moved or removed between looking and reading is looked for again. */
	async #file(object: { key: string; isAside: boolean }): Promise<ListedFile | undefined> {
		for (let look = 1; ; look++) {
			try {
				return await this.#present(object);
			} catch (error) {
				if (look === looksMax || !isMovedAway(error)) throw error;
			}
		}
	}

	async #present(object: { key: string; isAside: boolean }): Promise<ListedFile | undefined> {
		const published = publishedKey(object.key);
		const at = object.isAside ? quarantineKey(published) : published;
		const path = `objects/files/${published}`;
		const source = await this.#sourceOf(at);
		const present = await this.#place.find(path);
		if (present !== undefined && (source === undefined || source.bytes === present.bytes)) return this.#done({ ...present, at });
		if (source === undefined) return this.#isMissing(at);
		return this.#done({ ...(await this.#put(path, source.content())), at });
	}

	/** An object may have been put aside, or taken back, since the cut. */
	async #sourceOf(at: string): Promise<{ bytes: number; content(): AsyncIterable<Uint8Array> } | undefined> {
		const store = this.#store;
		const published = publishedKey(at);
		const other = at === published ? quarantineKey(published) : published;
		for (const key of [at, other]) {
			const bytes = await store.size(key);
			if (bytes !== undefined) return { bytes, content: () => store.read(key) };
		}
		return (await store.held(at)) ?? store.held(other);
	}

	/** A sealed segment never changes, so all cuts share it. One that grows belongs to this cut alone, as long as it is now. */
	async #segment(id: string, lastOffset: number): Promise<ListedFile | undefined> {
		const at = `segments/${id}.segment`;
		if (!(this.#store instanceof FileStore)) return this.#isMissing(at);
		const source = this.#store.segments.pathOf(id);
		const found = await stat(source).catch(() => undefined);
		if (found === undefined || found.size <= lastOffset) return this.#isMissing(at);
		const isSealed = (found.mode & 0o200) === 0;
		const path = isSealed ? `objects/${at}` : `${folderOf(this.#cut)}/${at}`;
		const present = isSealed ? await this.#place.find(path) : undefined;
		if (present?.bytes === found.size) return this.#done({ ...present, at });
		const content = createReadStream(source, { end: found.size - 1, highWaterMark: readBytes });
		return this.#done({ ...(await this.#put(path, content)), at });
	}

	async #put(path: string, content: AsyncIterable<Uint8Array>) {
		return this.#place.put(path, this.#counted(content));
	}

	async *#counted(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
		for await (const chunk of content) {
			this.bytesCopied += chunk.length;
			this.#tell();
			yield chunk;
		}
	}

	#done(file: ListedFile): ListedFile {
		this.files += 1;
		this.bytes += file.bytes;
		this.#tell();
		return file;
	}

	#isMissing(at: string): undefined {
		this.missing += 1;
		if (this.examples.length < examplesMax) this.examples.push(at);
	}

	#tell(): void {
		this.#progress.within(() => `objects: ${this.files} files, ${sizeText(this.bytes)}, ${sizeText(this.bytesCopied)} of it copied`);
	}
}

async function settled(running: readonly Promise<ListedFile | undefined>[]): Promise<ListedFile[]> {
	return (await Promise.all(running)).filter((file) => file !== undefined);
}

/** Lists all objects of a store, for a backup that has no rows to go by. */
export async function* allObjects(store: FileStore | S3Store): AsyncIterable<NamedObject> {
	if (!(store instanceof FileStore)) {
		for await (const { key } of store.list()) yield { key, isAside: key !== publishedKey(key) };
		return;
	}
	for await (const { key } of store.files()) yield { key, isAside: key !== publishedKey(key) };
	for (const segment of await store.segments.list()) yield { segment, offset: 0 };
}

/** The lists of removed records, one a line: the segment, and its list in base64. */
export async function* removedRecords(store: FileStore | S3Store): AsyncIterable<string> {
	if (!(store instanceof FileStore)) return;
	for (const segment of await store.segments.list()) {
		const content = await readFile(store.removals.pathOf(segment)).catch((error: NodeJS.ErrnoException) => {
			if (error.code === 'ENOENT') return undefined;
			throw error;
		});
		if (content !== undefined) yield `${segment}\t${content.toString('base64')}\n`;
	}
}
