import { Failure } from '#core/failure.ts';
import { WordSwap, wordBytesOf } from '#dicom/byte-order.ts';
import { bulkMediaTypeOf, encodingOf, explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { type LocatedValue, parseValuePath, type ValuePath } from '#dicom/value-locator.ts';
import type { Extent } from '#imaging/fragments.ts';
import { frameTable } from '#imaging/frame-extents.ts';
import { StoredDataSet } from '#imaging/stored-data-set.ts';
import { firstValue, pixelPaths, type StoredValue } from '#imaging/stored-value.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { DicomWebContext } from './context.ts';
import { frameNumbers } from './frame-numbers.ts';
import { findInstances, retrievedBy } from './instances.ts';
import { type AnswerPart, partsAnswer } from './multipart-writer.ts';
import { type Packing, packingOf } from './negotiation.ts';
import { baseOf, instanceUrl } from './urls.ts';

const octets = 'application/octet-stream';
const convertsTo = [explicitLittleEndian];

/** Octets have no header that tells the order of their bytes. Who does not ask for another one expects little endian (PS3.18 §8.7.3.3.2). */
function assumedOf({ instance }: StoredDataSet): string | undefined {
	return encodingOf(instance.transferSyntaxUid).littleEndian ? undefined : explicitLittleEndian;
}

interface Found extends StoredValue {
	dataSet: StoredDataSet;
	/** The URL of the instance. */
	url: string;
}

function noElement(paths: readonly ValuePath[]): Failure {
	return new Failure('not-found', paths === pixelPaths ? 'the instance has no pixel data' : 'the instance has no such element');
}

/** Returns the first of the elements that the instance has. @throws Failure `not-found` */
async function find(context: DicomWebContext, request: HttpRequest, paths: readonly ValuePath[]): Promise<Found> {
	const { first } = await findInstances(context, await retrievedBy(context, request));
	const dataSet = new StoredDataSet(context.objects, first);
	const found = await firstValue(dataSet, paths, context.limits.dicomMetadataBytesMax);
	if (found === undefined) throw noElement(paths);
	if ('fault' in found) throw new Failure('not-found', `the element cannot be found in the instance: ${found.fault.text}`);
	return { ...found, dataSet, url: instanceUrl(baseOf(request), first) };
}

/**
 * Answers the value of one element that the metadata gives by reference (PS3.18 §10.4.1.1.5), in little endian, or byte for byte as stored
 * with `transfer-syntax=*`. Encapsulated pixel data is answered frame by frame if the frames can be told apart.
 * @throws Failure `not-found`, `not-acceptable`, `unavailable`
 */
export async function bulkData(context: DicomWebContext, request: HttpRequest): Promise<HttpAnswer> {
	const path = parseValuePath(request.params['path'] ?? '');
	if (path === undefined) {
		await findInstances(context, await retrievedBy(context, request));
		throw noElement([]);
	}
	const found = await find(context, request, [path]);
	const { dataSet, value, shape, url } = found;
	const { length, offset, vr } = value;
	if (vr === 'SQ') throw new Failure('not-found', 'the element is a sequence; its items have no bulk data of their own');
	const location = `${url}/bulkdata/${request.params['path']}`;
	if (length !== undefined) {
		const extents = whole(dataSet, [{ start: offset, end: offset + length }]);
		const packing = packingOf(request, {
			mediaTypes: [octets],
			transferSyntaxes: syntaxOf(dataSet),
			convertsTo,
			assumes: assumedOf(dataSet),
			isOne: true,
		});
		return partsAnswer(packing, parts(dataSet, [{ location, extents: () => extents }], turned(dataSet, value, packing)));
	}
	// A frame inside a sequence is an icon: one frame.
	const table = await frameTable(dataSet, value, path.length === 1 ? shape : { ...shape, frames: 1 }).catch(() =>
		frameTable(dataSet, value, { ...shape, frames: 1 }),
	);
	const offer = { mediaTypes: mediaTypesOf(dataSet), transferSyntaxes: syntaxOf(dataSet), convertsTo: [], isOne: table.frames === 1 };
	const packing = packingOf(request, offer);
	const frames = Array.from({ length: table.frames }, (_, index) => ({ location, extents: () => table.extentsOf(index) }));
	return partsAnswer(packing, parts(dataSet, frames));
}

/**
 * Answers frames of an image by number, from 1 (PS3.18 §10.4.1.1.6): native pixels, or compressed ones as they are stored.
 * @throws Failure `invalid`, `not-found`, `not-acceptable`, `unavailable`
 */
export async function frames(context: DicomWebContext, request: HttpRequest): Promise<HttpAnswer> {
	await retrievedBy(context, request);
	const numbers = frameNumbers(request);
	const { dataSet, value, shape, url } = await find(context, request, pixelPaths);
	const table = await frameTable(dataSet, value, shape);
	if (numbers.some((number) => number > table.frames)) throw new Failure('not-found', `the instance has frames 1 to ${table.frames}`);
	const isNative = value.length !== undefined;
	const packing = packingOf(request, {
		mediaTypes: isNative ? [octets] : mediaTypesOf(dataSet),
		transferSyntaxes: syntaxOf(dataSet),
		convertsTo: isNative ? convertsTo : [],
		assumes: assumedOf(dataSet),
		isOne: numbers.length === 1,
	});
	const wanted: WantedPart[] = [];
	// Frames that cannot be told apart must be reported before the status is sent.
	for (const number of numbers) {
		const extents = whole(dataSet, await table.extentsOf(number - 1));
		wanted.push({ location: `${url}/frames/${number}`, extents: () => extents });
	}
	return partsAnswer(packing, parts(dataSet, wanted, turned(dataSet, value, packing)));
}

/** @throws Failure `not-acceptable` when the stored data set ends before the extents do */
function whole(dataSet: StoredDataSet, extents: Extent[]): Extent[] {
	const { length } = dataSet;
	if (length !== undefined && extents.some(({ end }) => end > length)) {
		throw new Failure('not-acceptable', 'the data set ends within the value; the instance can be retrieved as it is');
	}
	return extents;
}

function syntaxOf({ instance }: StoredDataSet): string[] {
	return [instance.transferSyntaxUid];
}

function mediaTypesOf({ instance }: StoredDataSet): string[] {
	const own = bulkMediaTypeOf(instance.transferSyntaxUid);
	return own === undefined ? [octets] : [own, octets];
}

interface WantedPart {
	location: string;
	extents(): Extent[] | Promise<Extent[]>;
}

/** A value whose bytes are sent in another order than they are stored in. */
interface Turned {
	/** Where it begins in the data set. */
	offset: number;
	wordBytes: ReturnType<typeof wordBytesOf>;
}

interface Sent {
	transferSyntaxUid: string;
	turned: Turned | undefined;
}

/** Values are sent as they are stored, or in little endian. */
function turned({ instance }: StoredDataSet, { offset, vr }: LocatedValue, { transferSyntax }: Packing): Sent {
	const { transferSyntaxUid } = instance;
	const wanted = transferSyntax ?? transferSyntaxUid;
	const wordBytes = wordBytesOf(vr);
	const isTurned = wordBytes > 1 && encodingOf(wanted).littleEndian !== encodingOf(transferSyntaxUid).littleEndian;
	return { transferSyntaxUid: wanted, turned: isTurned ? { offset, wordBytes } : undefined };
}

async function* parts(
	dataSet: StoredDataSet,
	wanted: readonly WantedPart[],
	sent: Sent = { transferSyntaxUid: dataSet.instance.transferSyntaxUid, turned: undefined },
): AsyncGenerator<AnswerPart> {
	const { transferSyntaxUid, turned } = sent;
	for (const { location, extents } of wanted)
		yield { transferSyntaxUid, location, bytes: bytesOf(dataSet, whole(dataSet, await extents()), turned) };
}

async function* bytesOf(dataSet: StoredDataSet, extents: readonly Extent[], turned: Turned | undefined): AsyncGenerator<Uint8Array> {
	for (const extent of extents) yield* turned ? inOtherOrder(dataSet, extent, turned) : dataSet.read(extent.start, extent.end);
}

/** A frame may begin and end within a word. */
async function* inOtherOrder(dataSet: StoredDataSet, { start, end }: Extent, { offset, wordBytes }: Turned): AsyncGenerator<Uint8Array> {
	const from = start - ((start - offset) % wordBytes);
	const to = end + ((wordBytes - ((end - offset) % wordBytes)) % wordBytes);
	const swap = new WordSwap(wordBytes);
	let at = from;
	for await (const chunk of dataSet.read(from, to)) {
		const words = swap.feed(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
		const piece = words.subarray(Math.max(0, start - at), Math.max(0, end - at));
		at += words.length;
		if (piece.length > 0) yield piece;
	}
}
