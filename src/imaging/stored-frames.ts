import { Failure } from '#core/failure.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { type FrameTable, frameTable } from './frame-extents.ts';
import { Recent } from './recent.ts';
import { type ReadObject, StoredDataSet } from './stored-data-set.ts';
import { headOf } from './stored-head.ts';
import { firstValue, pixelPaths } from './stored-value.ts';

interface Located {
	dataSet: StoredDataSet;
	table: FrameTable;
}

/** People look at no more objects in turns. One has a table of its frames and 64 KiB of its bytes. */
const locatedMax = 32;

/**
 * Finds frames of stored objects. Whoever scrolls asks for one frame after the other, so where those of the last objects lie is remembered;
 * what lies under a key never changes.
 */
export class StoredFrames {
	readonly #objects: Pick<ObjectStore, 'read' | 'size'>;
	readonly #bytesMax: number;
	readonly #located = new Recent<Located>(locatedMax);

	constructor(objects: Pick<ObjectStore, 'read' | 'size'>, bytesMax: number) {
		this.#objects = objects;
		this.#bytesMax = bytesMax;
	}

	/**
	 * The bytes of a frame as they are stored, and how many there are. Frames are counted from 1.
	 * @throws Failure `not-found`, `not-acceptable`, `unavailable`
	 */
	async frame(object: ReadObject, number: number): Promise<{ length: number; bytes: AsyncIterable<Uint8Array> }> {
		const { dataSet, table } = await this.#located.of(object.objectKey, () => this.#find(object));
		if (number > table.frames) throw new Failure('not-found', `the instance has frames 1 to ${table.frames}`);
		const extents = await table.extentsOf(number - 1);
		const end = dataSet.length;
		if (end !== undefined && extents.some((extent) => extent.end > end))
			throw new Failure('not-acceptable', 'the data set ends within the frame; the instance can be retrieved as it is');
		async function* bytes(): AsyncGenerator<Uint8Array> {
			for (const extent of extents) yield* dataSet.read(extent.start, extent.end);
		}
		return { length: extents.reduce((sum, extent) => sum + extent.end - extent.start, 0), bytes: bytes() };
	}

	async #find(object: ReadObject): Promise<Located> {
		const dataSet = new StoredDataSet(this.#objects, object);
		const found = await firstValue(dataSet, pixelPaths, this.#bytesMax);
		if (found === undefined || 'fault' in found) throw new Failure('not-found', 'the instance has no pixel data');
		return { dataSet, table: await frameTable(dataSet, found.value, found.shape) };
	}
}

/** The heads that this service writes are shorter. */
const headBytesMax = 65_536;

/**
 * Tells from the head of a stored object how its data set is encoded.
 * @throws Failure `not-found`, `unavailable`, `internal` when the object is no DICOM file
 */
export async function readObjectAt(objects: Pick<ObjectStore, 'read' | 'size'>, objectKey: string): Promise<ReadObject> {
	const bytes = await objects.size(objectKey);
	if (bytes === undefined) throw new Failure('not-found', 'the object is not in the store');
	const pieces: Uint8Array[] = [];
	for await (const piece of objects.read(objectKey, { start: 0, end: Math.min(bytes, headBytesMax) })) pieces.push(piece);
	const { transferSyntaxUid } = headOf(Buffer.concat(pieces)) ?? {};
	if (transferSyntaxUid === undefined) throw new Failure('internal', 'a stored object is no DICOM file');
	return { objectKey, transferSyntaxUid, bytes };
}
