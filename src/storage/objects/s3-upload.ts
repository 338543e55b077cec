import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { S3 } from '@aws-sdk/client-s3';
import { isPassing } from './s3-client.ts';

/** An object of a bucket, as requests name it. */
export interface S3Location {
	Bucket: string;
	Key: string;
}

interface Piece {
	path: string;
	start: number;
	/** The end is exclusive. */
	end: number;
}

/** A buffer size. */
const readBytes = 256 * 1024;
/** About twice this passes before the second attempt, and twice as much before the third. */
const waitMs = 100;

const streamOf = ({ path, start, end }: Piece) =>
	createReadStream(path, { start, end: Math.max(start, end - 1), highWaterMark: readBytes });

/** Returns the digest that the store checks (RFC 1864). S3 and all compatible stores check this one. */
async function digestOf(piece: Piece): Promise<string> {
	const hash = createHash('md5');
	for await (const chunk of streamOf(piece)) hash.update(chunk as Buffer);
	return hash.digest('base64');
}

interface PieceBody {
	Body: ReturnType<typeof streamOf>;
	ContentLength: number;
	ContentMD5: string;
}

/** Sends a piece of a file without buffering it. The SDK does not repeat streamed requests, so that is done here. */
async function sending<T>(
	piece: Piece,
	{ attemptsMax, retried }: Pick<UploadOptions, 'attemptsMax' | 'retried'>,
	send: (body: PieceBody, options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
	const digest = await digestOf(piece);
	for (let attempt = 1; ; attempt++) {
		const body = streamOf(piece);
		// A disk that cannot be read must not leave the request waiting for the rest.
		const broken = new AbortController();
		body.once('error', (error) => broken.abort(error));
		try {
			const sized = { Body: body, ContentLength: piece.end - piece.start, ContentMD5: digest };
			return await send(sized, { abortSignal: broken.signal });
		} catch (error) {
			if (attempt === attemptsMax || !isPassing(error)) throw error;
			await new Promise((resolve) => setTimeout(resolve, waitMs * 2 ** attempt * (0.5 + Math.random())));
			retried?.();
		} finally {
			body.destroy();
		}
	}
}

/** Metadata that the store keeps with an object. */
export interface UploadedAs {
	ContentType: string;
	Metadata?: Record<string, string>;
}

interface UploadOptions {
	partBytes: number;
	attemptsMax: number;
	/** Is called when a part is sent again. */
	retried?: (() => void) | undefined;
	/** A DICOM file unless something else is said. */
	about?: UploadedAs;
}

/**
 * Resolves when the store has the whole file. A part that fails `attemptsMax` times ends it: the sender is answered 0xA700 and sends the instance
 * again. When an upload in parts fails, its parts are removed if the store can be asked.
 */
export async function upload(
	client: S3,
	location: S3Location,
	path: string,
	{ partBytes, attemptsMax, retried, about = { ContentType: 'application/dicom' } }: UploadOptions,
): Promise<void> {
	const { size } = await stat(path);
	const again = { attemptsMax, retried };
	if (size <= partBytes) {
		await sending({ path, start: 0, end: size }, again, (body, options) => client.putObject({ ...location, ...body, ...about }, options));
		return;
	}
	await inParts(client, location, size, partBytes, about, async (part, start, end) => {
		const { ETag } = await sending({ path, start, end }, again, (body, options) =>
			client.uploadPart({ ...location, ...part, ...body }, options),
		);
		return ETag;
	});
}

/** A copy made by the store itself. */
export async function copy(client: S3, from: S3Location, to: S3Location, bytes: number, copyBytesMax: number): Promise<void> {
	const CopySource = [from.Bucket, ...from.Key.split('/')].map(encodeURIComponent).join('/');
	if (bytes <= copyBytesMax) {
		await client.copyObject({ ...to, CopySource });
		return;
	}
	await inParts(client, to, bytes, copyBytesMax, { ContentType: 'application/dicom' }, async (part, start, end) => {
		const { CopyPartResult } = await client.uploadPartCopy({ ...to, ...part, CopySource, CopySourceRange: `bytes=${start}-${end - 1}` });
		return CopyPartResult?.ETag;
	});
}

/** `send` returns the ETag of its part. */
async function inParts(
	client: S3,
	location: S3Location,
	bytes: number,
	partBytes: number,
	about: UploadedAs,
	send: (part: { UploadId: string; PartNumber: number }, start: number, end: number) => Promise<string | undefined>,
): Promise<void> {
	const { UploadId } = await client.createMultipartUpload({ ...location, ...about });
	if (UploadId === undefined) throw new Error('the object store did not name the upload');
	try {
		const Parts = [];
		for (let start = 0, PartNumber = 1; start < bytes; start += partBytes, PartNumber++) {
			const ETag = await send({ UploadId, PartNumber }, start, Math.min(bytes, start + partBytes));
			Parts.push({ PartNumber, ETag });
		}
		await client.completeMultipartUpload({ ...location, UploadId, MultipartUpload: { Parts } });
	} catch (error) {
		// If that fails too, the next start finds the upload by its age.
		await client.abortMultipartUpload({ ...location, UploadId }).catch(() => undefined);
		throw error;
	}
}
