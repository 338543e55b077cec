import { close, open, read } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '#core/failure.ts';
import { codeOf, storeFailure, unlessMissing } from './file-system.ts';
import type { Place } from './object-key.ts';
import type { ByteRange } from './object-store.ts';
import { firstRecordAt } from './segment-file.ts';
import {
	decodeRecordHead,
	decodeSegmentHead,
	pageBytes,
	type RecordHead,
	recordBytes,
	recordMagic,
	type SegmentHead,
} from './segment-format.ts';
import { segmentName } from './segment-writer.ts';

const openFile = promisify(open);
const closeFile = promisify(close);
const readFile = promisify(read);

/** Open segments of a process that nobody reads just now, far below the usual limit of open files of a process. */
export const openSegmentsMax = 64;
/** Buffer sizes: they do not change what is read. The first piece is enough for most small objects. */
const firstReadBytes = 32 * 1024;
const readBytes = 256 * 1024;
const namePattern = /^([0-9a-f]{32})\.segment$/;
const emptiedPattern = /^([0-9a-f]{32})\.emptied$/;
const emptiedName = (id: string) => `${id}.emptied`;

/** A segment that nobody reads is closed after so long, because a removed one keeps its space while it is open. */
const idleMs = 60_000;

interface OpenSegment {
	fd: Promise<number>;
	users: number;
	usedMs: number;
}

/** A record that is whole, or a stretch of a segment in which no record begins. */
export type Scanned = { record: RecordHead; gap?: undefined } | { record?: undefined; gap: { start: number; end: number } };

/** Reads records of segments. The files stay open for the next reader. */
export class SegmentReader {
	readonly folder: string;
	/** The longest unused comes first. */
	readonly #open = new Map<string, OpenSegment>();
	#closing: NodeJS.Timeout | undefined;

	constructor(folder: string) {
		this.folder = folder;
	}

	/** Returns the ids of all segments that are not emptied, the oldest first. */
	async list(): Promise<string[]> {
		const names = new Set(await readdir(this.folder).catch((error: unknown) => unlessMissing(error, [] as string[])));
		const ids = [...names].flatMap((name) => namePattern.exec(name)?.[1] ?? []);
		return ids.filter((id) => !names.has(emptiedName(id))).sort();
	}

	/** Returns the segments whose records have all been moved or removed, and since when. */
	async emptied(): Promise<{ id: string; emptiedMs: number }[]> {
		const names = await readdir(this.folder).catch((error: unknown) => unlessMissing(error, [] as string[]));
		const found: { id: string; emptiedMs: number }[] = [];
		for (const id of names.flatMap((name) => emptiedPattern.exec(name)?.[1] ?? [])) {
			const marker = await stat(join(this.folder, emptiedName(id))).catch((error: unknown) => unlessMissing(error, undefined));
			if (marker) found.push({ id, emptiedMs: marker.mtimeMs });
		}
		return found;
	}

	async markEmptied(segment: string): Promise<void> {
		await writeFile(join(this.folder, emptiedName(segment)), '');
	}

	async unmark(segment: string): Promise<void> {
		await rm(join(this.folder, emptiedName(segment)), { force: true });
	}

	/** Returns the size of a segment's file. */
	async bytesOf(segment: string): Promise<number> {
		return (await stat(this.pathOf(segment))).size;
	}

	pathOf(segment: string): string {
		return join(this.folder, segmentName(segment));
	}

	/** Returns the size of the content at a place; undefined when it is not there, or not whole. */
	async size(place: Place): Promise<number | undefined> {
		try {
			return await this.#using(place.segment, async (fd) => {
				const head = headAt(place, await readAt(fd, pageBytes, place.offset));
				if (head === undefined) return undefined;
				const { contentBytes, headBytes } = head;
				const lastAt = place.offset + headBytes + contentBytes - 1;
				const isWhole = contentBytes === 0 || (await readAt(fd, 1, lastAt)).length === 1;
				return isWhole ? contentBytes : undefined;
			});
		} catch (error) {
			return unlessMissing(error, undefined);
		}
	}

	/** @throws Failure `not-found`, `unavailable`, at the first chunk */
	async *read(place: Place, range?: ByteRange): AsyncIterable<Uint8Array> {
		if (range && range.end <= range.start) return;
		const segment = this.#take(place.segment);
		try {
			const fd = await segment.fd;
			const first = await readAt(fd, range === undefined ? firstReadBytes : pageBytes, place.offset);
			const head = headAt(place, first);
			if (head === undefined) throw new Failure('not-found', 'the object is not in the store');
			const { headBytes, contentBytes } = head;
			const end = Math.min(range?.end ?? contentBytes, contentBytes);
			let at = range?.start ?? 0;
			const early = first.subarray(headBytes + at, headBytes + end);
			if (early.length > 0) yield early;
			at += early.length;
			while (at < end) {
				const piece = await readAt(fd, Math.min(readBytes, end - at), place.offset + headBytes + at);
				if (piece.length === 0) throw new Failure('not-found', 'the object is not whole in the store');
				at += piece.length;
				yield piece;
			}
		} catch (error) {
			if (codeOf(error) === 'ENOENT') throw new Failure('not-found', 'the object is not in the store', { cause: error });
			throw storeFailure(error);
		} finally {
			this.#give(segment);
		}
	}

	/** Returns the head of a segment; undefined when the file is no segment that can be read. */
	async head(segment: string): Promise<SegmentHead | undefined> {
		return this.#using(segment, async (fd) => decodeSegmentHead(await readAt(fd, pageBytes, 0)));
	}

	/**
	 * Reads all records of a segment by their heads. Behind a head that fails it looks for the next one: a torn tail is a gap at the end,
	 * and damage in between does not hide what lies behind it.
	 */
	async *scan(segment: string): AsyncIterable<Scanned> {
		const open = this.#take(segment);
		try {
			const fd = await open.fd;
			let gapFrom: number | undefined;
			for (let at = firstRecordAt; ; ) {
				const bytes = await readAt(fd, pageBytes, at);
				const record = bytes.length === 0 ? undefined : await wholeRecord(fd, decodeRecordHead(bytes, segment, at));
				if (record === undefined && bytes.length > 0) {
					gapFrom ??= at;
					at = await nextCandidate(fd, at + 1);
					continue;
				}
				if (gapFrom !== undefined) yield { gap: { start: gapFrom, end: at } };
				gapFrom = undefined;
				if (record === undefined) return;
				yield { record };
				at += recordBytes(record);
				// The next record of the other kind begins at a page.
				at = await skipZeros(fd, at);
			}
		} catch (error) {
			throw storeFailure(error);
		} finally {
			this.#give(open);
		}
	}

	async #using<T>(segment: string, work: (fd: number) => Promise<T>): Promise<T> {
		const open = this.#take(segment);
		try {
			return await work(await open.fd);
		} finally {
			this.#give(open);
		}
	}

	#take(segment: string): OpenSegment {
		let open = this.#open.get(segment);
		if (open === undefined) {
			open = { fd: openFile(this.pathOf(segment), 'r'), users: 0, usedMs: 0 };
			open.fd.catch(() => this.#open.delete(segment));
		} else this.#open.delete(segment);
		this.#open.set(segment, open);
		open.users += 1;
		return open;
	}

	#give(open: OpenSegment): void {
		open.users -= 1;
		open.usedMs = Date.now();
		if (this.#open.size > openSegmentsMax) this.#closeIdle(() => this.#open.size > openSegmentsMax);
		this.#closeLater();
	}

	#closeLater(): void {
		this.#closing ??= setTimeout(() => {
			this.#closing = undefined;
			this.#closeIdle(({ usedMs }) => usedMs <= Date.now() - idleMs);
			if (this.#open.size > 0) this.#closeLater();
		}, idleMs).unref();
	}

	#closeIdle(isMeant: (open: OpenSegment) => boolean): void {
		for (const [segment, open] of this.#open) if (open.users === 0 && isMeant(open)) this.forget(segment);
	}

	/** Closes a segment unless somebody reads it just now. */
	forget(segment: string): void {
		const open = this.#open.get(segment);
		if (open === undefined || open.users > 0) return;
		this.#open.delete(segment);
		open.fd.then((descriptor) => closeFile(descriptor)).catch(() => undefined);
	}
}

/** Returns the head of the record, if it is that of the place. */
function headAt({ segment, offset, id, siteId }: Place, bytes: Buffer): RecordHead | undefined {
	const head = decodeRecordHead(bytes, segment, offset);
	return head?.text.id === id && head.text.site === siteId ? head : undefined;
}

/** Returns fewer bytes only at the end of the file. */
async function readAt(fd: number, bytes: number, position: number): Promise<Buffer> {
	const buffer = Buffer.allocUnsafe(bytes);
	let filled = 0;
	while (filled < bytes) {
		const { bytesRead } = await readFile(fd, buffer, filled, bytes - filled, position + filled);
		if (bytesRead === 0) break;
		filled += bytesRead;
	}
	return buffer.subarray(0, filled);
}

/** Returns the record unless its content goes on behind the end of the file. */
async function wholeRecord(fd: number, record: RecordHead | undefined): Promise<RecordHead | undefined> {
	if (record === undefined || record.contentBytes === 0) return record;
	const last = await readAt(fd, 1, record.offset + record.headBytes + record.contentBytes - 1);
	return last.length === 1 ? record : undefined;
}

/** Returns the next position at which a record may begin, or the end of the file. */
async function nextCandidate(fd: number, from: number): Promise<number> {
	for (let at = from; ; ) {
		const bytes = await readAt(fd, readBytes, at);
		if (bytes.length < recordMagic.length) return at + bytes.length;
		const found = bytes.indexOf(recordMagic);
		if (found >= 0) return at + found;
		at += bytes.length - recordMagic.length + 1;
	}
}

/** Passes over the padding between two records. */
async function skipZeros(fd: number, from: number): Promise<number> {
	const rest = pageBytes - (from % pageBytes || pageBytes);
	if (rest === 0) return from;
	const bytes = await readAt(fd, rest, from);
	return bytes.every((byte) => byte === 0) ? from + bytes.length : from;
}
