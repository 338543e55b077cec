import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3 } from '@aws-sdk/client-s3';
import { isMissing, openClient, type S3Access } from '#storage/objects/s3-client.ts';
import { upload } from '#storage/objects/s3-upload.ts';
import { type BackupPlace, checkedPath, Measured, MissingFile, type PresentFile, type StoredFile } from './place.ts';

/** A larger file is uploaded in parts of this size; a bucket takes 10,000 of them. */
const partBytes = 64 * 1024 * 1024;
/** Anything else under the prefix is no file of a backup. */
const digestPattern = /^[0-9a-f]{64}$/;

export interface BucketOptions {
	bucket: string;
	/** It ends in `/`, or is empty. */
	prefix: string;
	access: S3Access;
	/** The folder in which a file lies until it is uploaded: its digest has to be known before. */
	spool: string;
}

/** Backups in a bucket of S3 or of a compatible store. Each file bears its digest as metadata. */
export class BucketPlace implements BackupPlace {
	readonly name: string;
	readonly #options: BucketOptions;
	#client: Promise<S3> | undefined;

	constructor(options: BucketOptions) {
		this.name = `s3://${options.bucket}/${options.prefix}`.replace(/\/$/, '');
		this.#options = options;
	}

	#locationOf(path: string): { Bucket: string; Key: string } {
		return { Bucket: this.#options.bucket, Key: this.#options.prefix + checkedPath(path) };
	}

	/** @throws Error that says what the store answered */
	async #ask<T>(request: (client: S3) => Promise<T>): Promise<T> {
		this.#client ??= openClient(this.#options.access);
		try {
			return await request(await this.#client);
		} catch (error) {
			if (isMissing(error)) throw error;
			throw new Error(`${this.name} does not answer as it should (${error instanceof Error ? error.name : 'unknown'})`, { cause: error });
		}
	}

	async find(path: string): Promise<StoredFile | undefined> {
		try {
			const { ContentLength = 0, Metadata = {} } = await this.#ask((client) => client.headObject(this.#locationOf(path)));
			const sha256 = Metadata['sha256'] ?? '';
			return digestPattern.test(sha256) ? { path, bytes: ContentLength, sha256 } : undefined;
		} catch (error) {
			if (isMissing(error)) return undefined;
			throw error;
		}
	}

	async put(path: string, content: AsyncIterable<Uint8Array>): Promise<StoredFile> {
		const { spool, access } = this.#options;
		const part = join(spool, `${process.pid}-${randomBytes(6).toString('hex')}`);
		const measured = new Measured();
		await mkdir(spool, { recursive: true, mode: 0o700 });
		try {
			await pipeline(measured.of(content), createWriteStream(part, { mode: 0o600 }));
			const sha256 = measured.digest();
			const about = { ContentType: 'application/octet-stream', Metadata: { sha256 } };
			await this.#ask((client) => upload(client, this.#locationOf(path), part, { partBytes, attemptsMax: access.attemptsMax, about }));
			return { path, bytes: measured.bytes, sha256 };
		} finally {
			await rm(part, { force: true });
		}
	}

	async *read(path: string): AsyncIterable<Uint8Array> {
		let body: Readable;
		try {
			body = (await this.#ask((client) => client.getObject(this.#locationOf(path)))).Body as Readable;
		} catch (error) {
			if (isMissing(error)) throw new MissingFile(path, error);
			throw error;
		}
		try {
			yield* body as AsyncIterable<Buffer>;
		} finally {
			body.destroy();
		}
	}

	async folders(path: string): Promise<string[]> {
		const names = new Set<string>();
		for await (const { path: file } of this.files(path)) {
			const [name, rest] = file.slice(path.length + 1).split('/');
			if (name !== undefined && rest !== undefined) names.add(name);
		}
		return [...names].sort();
	}

	async *files(path: string): AsyncIterable<PresentFile> {
		const { bucket, prefix } = this.#options;
		const below = `${prefix}${checkedPath(path)}/`;
		for (let token: string | undefined, more = true; more; more = token !== undefined) {
			const continued = token === undefined ? {} : { ContinuationToken: token };
			const page = await this.#ask((client) => client.listObjectsV2({ Bucket: bucket, Prefix: below, ...continued }));
			for (const { Key = '', Size = 0 } of page.Contents ?? []) yield { path: Key.slice(prefix.length), bytes: Size };
			token = page.IsTruncated ? page.NextContinuationToken : undefined;
		}
	}

	async remove(path: string): Promise<void> {
		await this.#ask((client) => client.deleteObject(this.#locationOf(path)));
	}

	async close(): Promise<void> {
		const client = await this.#client?.catch(() => undefined);
		client?.destroy();
	}
}
