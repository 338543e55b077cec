import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { S3 } from '@aws-sdk/client-s3';
import { Failure } from '#core/failure.ts';
import { Incoming } from './incoming.ts';
import { isObjectKey } from './object-key.ts';
import type { ByteRange, HeldObject, ListedObject, ObjectStore, ObjectWriter } from './object-store.ts';
import { strangerMsMax } from './owner.ts';
import { isBeyondEnd, isMissing, openClient, type S3Access, s3Failure } from './s3-client.ts';
import { S3Pins } from './s3-pins.ts';
import { copy, type S3Location, upload } from './s3-upload.ts';

const MiB = 1024 * 1024;
const held = 'held/';
const noValue = () => undefined;

export interface S3StoreOptions {
	bucket: string;
	/** The prefix of every key, with its `/`; may be empty. */
	prefix: string;
	/** The absolute path at which objects lie until they are uploaded. */
	spool: string;
	access: S3Access;
	/** A larger object is uploaded in parts of this size; at most 10,000 (S3). */
	partBytes?: number;
	/** A larger object is copied in parts of this size; 5 GiB at most (S3). */
	copyBytesMax?: number;
}

/**
 * Stores objects in a bucket of S3 or of a compatible store. The key of an object, and whether it is wanted at all, is known only when all
 * of
 * it has arrived. Until then it is a file below `spool`; it is uploaded when it is published. An object exists when the store has answered
 * the upload; before that nobody sees it. A crash leaves a file below `spool`, an incomplete upload in parts, or an object without a row.
 */
export class S3Store implements ObjectStore {
	readonly #options: S3StoreOptions;
	readonly #incoming: Incoming;
	readonly pins: S3Pins;
	#client: Promise<S3> | undefined;

	constructor(options: S3StoreOptions) {
		this.#options = options;
		const { bucket, prefix } = options;
		this.pins = new S3Pins({ bucket, prefix, ask: (request) => this.#ask(request) });
		this.#incoming = new Incoming(options.spool);
	}

	#opened(): Promise<S3> {
		this.#client ??= openClient(this.#options.access);
		return this.#client;
	}

	/** @throws Failure `unavailable` when the store refuses or does not answer */
	async #ask<T>(request: (client: S3) => Promise<T>): Promise<T> {
		try {
			return await request(await this.#opened());
		} catch (error) {
			throw s3Failure(error);
		}
	}

	/** Works like `#ask`, but returns undefined when the object does not exist. */
	#askUnlessMissing<T>(request: (client: S3) => Promise<T>): Promise<T | undefined> {
		return this.#ask((client) =>
			request(client).catch((error: unknown) => {
				if (isMissing(error)) return undefined;
				throw error;
			}),
		);
	}

	#location(key: string): S3Location {
		if (!isObjectKey(key)) throw new TypeError('not a key of the object store');
		return { Bucket: this.#options.bucket, Key: this.#options.prefix + key };
	}

	begin(head: Uint8Array): ObjectWriter {
		return this.#incoming.begin(head, {
			publish: async (temporary, key) => {
				await this.#upload(temporary, this.#location(key));
				// An object that cannot be removed has no row, and the sweep finds it.
				return { withdraw: () => this.remove(key).then(noValue, noValue) };
			},
			// The store makes objects durable; the file is only temporary.
			sync: async () => undefined,
		});
	}

	async #upload(temporary: string, location: S3Location): Promise<void> {
		await this.#ask((client) =>
			upload(client, location, temporary, {
				partBytes: this.#options.partBytes ?? 64 * MiB,
				attemptsMax: this.#options.access.attemptsMax,
				retried: this.#options.access.retried,
			}),
		);
		// A file that cannot be removed now is removed at the next start.
		await rm(temporary, { force: true }).catch(() => undefined);
	}

	async size(key: string): Promise<number | undefined> {
		const location = this.#location(key);
		const head = await this.#askUnlessMissing((client) => client.headObject(location));
		return head && (head.ContentLength ?? 0);
	}

	read(key: string, range?: ByteRange): AsyncIterable<Uint8Array> {
		return this.#content(this.#location(key), range);
	}

	async *#content(location: S3Location, range?: ByteRange): AsyncIterable<Uint8Array> {
		if (range && range.end <= range.start) return;
		const body = await this.#body(location, range);
		if (body === undefined) return;
		try {
			yield* body as AsyncIterable<Buffer>;
		} catch (error) {
			throw s3Failure(error);
		} finally {
			body.destroy();
		}
	}

	/** Undefined: the range begins behind the end. */
	async #body(location: S3Location, range: ByteRange | undefined): Promise<Readable | undefined> {
		const wanted = range ? { Range: `bytes=${range.start}-${range.end - 1}` } : {};
		return this.#ask(async (client) => {
			try {
				return (await client.getObject({ ...location, ...wanted })).Body as Readable;
			} catch (error) {
				if (isBeyondEnd(error)) return undefined;
				if (isMissing(error)) throw new Failure('not-found', 'the object is not in the store', { cause: error });
				throw error;
			}
		});
	}

	async remove(key: string): Promise<boolean> {
		const location = this.#location(key);
		// S3 also reports success for a missing object.
		const bytes = await this.size(key);
		if (bytes === undefined) return false;
		if (await this.pins.any()) await this.#ask((client) => copy(client, location, this.#heldLocation(key), bytes, this.#copyBytesMax));
		await this.#ask((client) => client.deleteObject(location));
		return true;
	}

	#heldLocation(key: string): S3Location {
		const { Bucket, Key } = this.#location(key);
		return { Bucket, Key: this.#options.prefix + held + Key.slice(this.#options.prefix.length) };
	}

	get #copyBytesMax(): number {
		return this.#options.copyBytesMax ?? 4096 * MiB;
	}

	/** Returns an object that was removed while a backup was at work. */
	async held(key: string): Promise<HeldObject | undefined> {
		const location = this.#heldLocation(key);
		const head = await this.#askUnlessMissing((client) => client.headObject(location));
		return head && { bytes: head.ContentLength ?? 0, content: () => this.#content(location) };
	}

	/** Removes the objects that were kept for a backup, unless one is still at work. */
	async removeHeld(): Promise<void> {
		const { bucket, prefix } = this.#options;
		for (let token: string | undefined, more = true; more; more = token !== undefined) {
			if (await this.pins.any()) return;
			const continued = token === undefined ? {} : { ContinuationToken: token };
			const page = await this.#ask((client) => client.listObjectsV2({ Bucket: bucket, Prefix: prefix + held, ...continued }));
			for (const { Key } of page.Contents ?? []) await this.#ask((client) => client.deleteObject({ Bucket: bucket, Key }));
			token = page.IsTruncated ? page.NextContinuationToken : undefined;
		}
	}

	async move(from: string, to: string): Promise<void> {
		const [source, target] = [this.#location(from), this.#location(to)];
		const bytes = await this.size(from);
		if (bytes === undefined) {
			if ((await this.size(to)) === undefined) throw new Failure('not-found', 'the object is not in the store');
			return;
		}
		await this.#ask((client) => copy(client, source, target, bytes, this.#copyBytesMax));
		await this.#ask((client) => client.deleteObject(source));
	}

	async *list(): AsyncIterable<ListedObject> {
		const { bucket, prefix } = this.#options;
		for (let token: string | undefined, more = true; more; more = token !== undefined) {
			const continued = token === undefined ? {} : { ContinuationToken: token };
			const page = await this.#ask((client) => client.listObjectsV2({ Bucket: bucket, Prefix: prefix, ...continued }));
			for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
				const key = Key.slice(prefix.length);
				if (isObjectKey(key)) yield { key, bytes: Size, changedMs: LastModified?.getTime() ?? 0 };
			}
			token = page.IsTruncated ? page.NextContinuationToken : undefined;
		}
	}

	/** Asks for an object that is not there: a write would cost money every time. */
	async probe(signal?: AbortSignal): Promise<void> {
		const { bucket, prefix } = this.#options;
		const options = signal === undefined ? {} : { abortSignal: signal };
		await this.#askUnlessMissing((client) => client.headObject({ Bucket: bucket, Key: `${prefix}probe` }, options));
	}

	/** Only `BoundedStore` knows that, since it bounds the waits. */
	expectAnswer(): void {}

	async removeTemporary(): Promise<number> {
		const removed = (await this.#incoming.removeTemporary()) + (await this.#abortUploads());
		// A backup that was killed left them.
		await this.removeHeld();
		return removed;
	}

	async close(): Promise<void> {
		const client = await this.#client?.catch(() => undefined);
		client?.destroy();
	}

	/** Aborts uploads in parts that nobody can still be carrying out. */
	async #abortUploads(): Promise<number> {
		const { bucket, prefix } = this.#options;
		let aborted = 0;
		let position: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
		while (position !== undefined) {
			const marker: { KeyMarker?: string; UploadIdMarker?: string } = position;
			const page = await this.#ask((client) => client.listMultipartUploads({ Bucket: bucket, Prefix: prefix, ...marker }));
			for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
				if (!isObjectKey(Key?.slice(prefix.length) ?? '') || (Initiated?.getTime() ?? Date.now()) > Date.now() - strangerMsMax) continue;
				const upload = await this.#askUnlessMissing((client) => client.abortMultipartUpload({ Bucket: bucket, Key, UploadId }));
				if (upload !== undefined) aborted += 1;
			}
			const { IsTruncated, NextKeyMarker = '', NextUploadIdMarker = '' } = page;
			position = IsTruncated ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker } : undefined;
		}
		return aborted;
	}
}
