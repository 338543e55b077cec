import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { FolderSync, Folders } from './file-system.ts';
import { ownerOf, placedKey } from './object-key.ts';
import type { ObjectDescription, PlacedObject } from './object-store.ts';
import { DirectAccess, firstRecordAt, SegmentFile } from './segment-file.ts';
import { alignedFrom, encodeRecordHead, measureRecord, pageBytes, recordBytes, startOf } from './segment-format.ts';

const noPadding = Buffer.alloc(0);
const padding = Buffer.alloc(8);

/** The name of a segment's file in the folder of segments. */
export function segmentName(id: string): string {
	return `${id}.segment`;
}

export interface SegmentWriterOptions {
	/** The folder of the segments, an absolute path. */
	folder: string;
	/** A folder that is made with it. */
	besides: string;
	/** The process start and the thread that append. */
	writer: string;
	/** A segment that is as long as this is followed by another. */
	segmentBytes: number;
	/** False: nothing is written past the page cache. */
	isDirect?: boolean | undefined;
	log?: Pick<Log, 'warn'> | undefined;
	appended?: ((ms: number) => void) | undefined;
	synced?: ((ms: number) => void) | undefined;
}

/** The content of a record: its preamble, which the digest does not cover, and the rest. */
export interface Content {
	/** The pieces of the whole content. */
	pieces: readonly Uint8Array[];
	bytes: number;
	preambleBytes: number;
	preambleChecksum: number;
	/** Hex SHA-256 of the rest. */
	digest: string;
}

interface Growing {
	file: SegmentFile;
	position: number;
}

/** Appends records to segments of its own, which nobody else appends to. */
export class SegmentWriter {
	readonly #options: SegmentWriterOptions;
	readonly #folders: Folders;
	readonly #syncs: FolderSync;
	readonly #direct: DirectAccess;
	readonly #sealing = new Set<Promise<void>>();
	#growing: Growing | undefined;

	constructor(options: SegmentWriterOptions, folders: Folders, syncs: FolderSync) {
		this.#options = options;
		this.#folders = folders;
		this.#syncs = syncs;
		this.#direct = new DirectAccess(options.isDirect ?? true, options.log);
	}

	/**
	 * Gives a content its place, and writes it. The pieces must not change until it is durable. Large contents come in blocks from
	 * `alignedContent`, which leaves a page for the head.
	 */
	append(key: string, about: ObjectDescription, content: Content, blocks?: readonly Buffer[]): PlacedObject {
		const { siteId, id } = ownerOf(key);
		const isAligned = blocks !== undefined;
		const { bytes: contentBytes, preambleBytes, preambleChecksum, digest } = content;
		const record = {
			...{ contentBytes, preambleBytes, preambleChecksum, digest, isAligned, writtenMs: Date.now() },
			text: { site: siteId, id, sopInstanceUid: about.sopInstanceUid, callingAe: about.callingAe, source: about.source },
		};
		const { text, headBytes } = measureRecord(record);
		const bytes = recordBytes({ headBytes, contentBytes, isAligned });
		const { file, offset } = this.#take(bytes, isAligned);
		const head = blocks?.[0]?.subarray(0, pageBytes) ?? Buffer.allocUnsafe(headBytes);
		encodeRecordHead(head, record, file.id, offset, text);
		const pieces = blocks === undefined ? [head, ...(content.pieces as Buffer[]), paddingOf(contentBytes)] : paged(blocks);
		return { key: placedKey({ siteId, segment: file.id, offset, id }), durable: file.append(offset, pieces, isAligned) };
	}

	#take(bytes: number, isAligned: boolean): { file: SegmentFile; offset: number } {
		let growing = this.#growing;
		if (growing !== undefined) {
			const end = startOf(growing.position, isAligned) + bytes;
			if (growing.file.isBroken || (end > this.#options.segmentBytes && growing.position > firstRecordAt)) {
				this.#seal(growing.file);
				growing = undefined;
			}
		}
		growing ??= { file: this.#open(), position: firstRecordAt };
		this.#growing = growing;
		const offset = startOf(growing.position, isAligned);
		growing.position = offset + bytes;
		return { file: growing.file, offset };
	}

	#open(): SegmentFile {
		const { folder, besides, writer, appended, synced } = this.#options;
		const id = newId().replaceAll('-', '');
		const path = join(folder, segmentName(id));
		const syncFolder = () => this.#syncs.sync(folder);
		const prepare = async () => {
			// Somebody may have removed it while it was empty.
			this.#folders.forget(folder);
			await this.#folders.prepare(folder);
			await this.#folders.prepare(besides);
		};
		return new SegmentFile({ path, id, writer, prepare, syncFolder, direct: this.#direct, appended, synced });
	}

	#seal(file: SegmentFile): void {
		const sealing = file.seal().finally(() => this.#sealing.delete(sealing));
		this.#sealing.add(sealing);
	}

	/** Seals what was begun. A later record begins another segment. */
	async close(): Promise<void> {
		if (this.#growing) this.#seal(this.#growing.file);
		this.#growing = undefined;
		await Promise.all(this.#sealing);
	}
}

function paddingOf(contentBytes: number): Buffer {
	const over = contentBytes % padding.length;
	return over === 0 ? noPadding : padding.subarray(over);
}

/** Fills the last block up to a page: what another object left there must not reach the disk. */
function paged(blocks: readonly Buffer[]): Buffer[] {
	const last = blocks.at(-1);
	const over = last === undefined ? 0 : last.length % pageBytes;
	if (last === undefined || over === 0) return [...blocks];
	const whole = Buffer.from(last.buffer, last.byteOffset, last.length + pageBytes - over);
	whole.fill(0, last.length);
	return [...blocks.slice(0, -1), whole];
}

/** Tells whether a content of this size is aligned. */
export function isLarge(contentBytes: number): boolean {
	return contentBytes >= alignedFrom;
}

export function checksumOf(bytes: Uint8Array): number {
	return crc32(bytes);
}
