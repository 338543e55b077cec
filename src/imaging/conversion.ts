import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createDeflateRaw, createInflateRaw, type DeflateRaw, type InflateRaw } from 'node:zlib';
import { Failure } from '#core/failure.ts';
import { DataSetConverter } from '#dicom/data-set-converter.ts';
import { DataSetError } from '#dicom/fault.ts';
import { encodingOf } from '#dicom/transfer-syntax.ts';

/**
 * Gives a data set in another transfer syntax of those that are `convertible`, while it is read; in its own it comes byte for byte.
 * @throws Failure `not-acceptable` when the data set is damaged, or breaks a rule without which it cannot be written anew
 */
export function converted(dataSet: AsyncIterable<Uint8Array>, from: string, to: string): AsyncIterable<Uint8Array> {
	if (from === to) return dataSet;
	const [own, wanted] = [encodingOf(from), encodingOf(to)];
	const plain = own.deflated ? inflated(dataSet) : dataSet;
	const isAlike = own.explicit === wanted.explicit && own.littleEndian === wanted.littleEndian;
	const written = isAlike ? plain : rewritten(plain, from, to);
	return wanted.deflated ? ofEvenLength(through(written, createDeflateRaw())) : written;
}

/**
 * Works like `converted`, for an association. Some writers leave the length of a deflated data set odd. A peer that is sent such a data set may end the
 * association, and so what else is sent over it.
 */
export function transferable(dataSet: AsyncIterable<Uint8Array>, from: string, to: string): AsyncIterable<Uint8Array> {
	return from === to && encodingOf(to).deflated ? ofEvenLength(dataSet) : converted(dataSet, from, to);
}

/** Reads the whole data set once, to see that it can be converted before anything is sent. @throws Failure as `converted` */
export async function checkConversion(dataSet: AsyncIterable<Uint8Array>, from: string, to: string): Promise<void> {
	for await (const _piece of converted(dataSet, from, to));
}

async function* rewritten(dataSet: AsyncIterable<Uint8Array>, from: string, to: string): AsyncGenerator<Uint8Array> {
	const converter = new DataSetConverter(from, to);
	try {
		for await (const chunk of dataSet) yield* converter.feed(chunk);
		converter.end();
	} catch (error) {
		if (error instanceof DataSetError)
			throw new Failure('not-acceptable', `the instance cannot be converted: ${error.message}`, { cause: error });
		throw error;
	}
}

async function* through(dataSet: AsyncIterable<Uint8Array>, codec: InflateRaw | DeflateRaw): AsyncGenerator<Uint8Array> {
	const fed = pipeline(Readable.from(dataSet, { objectMode: false }), codec);
	// The stream passes the failure to the reader; this promise would only repeat it.
	fed.catch(() => undefined);
	yield* codec as AsyncIterable<Buffer>;
}

async function* inflated(dataSet: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	try {
		yield* through(dataSet, createInflateRaw());
	} catch (error) {
		if (isZlibError(error)) throw new Failure('not-acceptable', 'the instance cannot be converted: it is not deflated', { cause: error });
		throw error;
	}
}

/** A single NUL makes the length of a deflated data set even (PS3.5 §A.5). */
async function* ofEvenLength(deflated: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	let bytes = 0;
	for await (const piece of deflated) {
		bytes += piece.length;
		yield piece;
	}
	if (bytes % 2 !== 0) yield Buffer.alloc(1);
}

function isZlibError(error: unknown): boolean {
	return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}
