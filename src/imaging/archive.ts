import { Failure } from '#core/failure.ts';
import { dataSetOffset } from '#dicom/part10.ts';
import type { ImagingClause, ImagingQuery } from '#record/imaging-query.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import type { Reader } from '#storage/reader.ts';
import { findRetrievable, type ImagingPage, type RetrievalKind, type RetrievalPage, retrievalKinds, searchImaging } from './search.ts';

/** Searches and reads the instances of a site. */
export interface Archive {
	/** @throws Failure `unavailable` */
	search(siteId: string, query: ImagingQuery): Promise<ImagingPage>;
	/** @throws Failure `unavailable` */
	kinds(siteId: string, clauses: readonly ImagingClause[]): Promise<RetrievalKind[]>;
	/** @throws Failure `unavailable` */
	instances(siteId: string, clauses: readonly ImagingClause[], page: Pick<ImagingQuery, 'count' | 'after'>): Promise<RetrievalPage>;
	/**
	 * Reads the data set of an object, byte for byte as it was received, without the head of its file.
	 * @throws Failure `not-found`, `unavailable`, `internal` when the object is no DICOM file
	 */
	readDataSet(objectKey: string): AsyncIterable<Uint8Array>;
}

/** @param current finds objects. They are moved as soon as the primary has it, so a replica may name one that is no longer there. */
export function createArchive(reader: Reader, current: Reader, objects: ObjectStore): Archive {
	return {
		search: (siteId, query) => searchImaging(reader, siteId, query),
		kinds: (siteId, clauses) => retrievalKinds(current, siteId, clauses),
		instances: (siteId, clauses, page) => findRetrievable(current, siteId, clauses, page),
		readDataSet: (objectKey) => dataSetOf(objects, objectKey),
	};
}

/** The head is some hundred bytes long. A longer one is not valid. */
const headBytesMax = 64 * 1024;

/**
 * Reads the data set of an object without the head of its file.
 * @throws Failure as the object store does, `internal` when the object is no DICOM file
 */
export async function* dataSetOf(objects: Pick<ObjectStore, 'read'>, key: string): AsyncIterable<Uint8Array> {
	let head: Buffer | undefined = Buffer.alloc(0);
	for await (const piece of objects.read(key)) {
		if (head === undefined) {
			yield piece;
			continue;
		}
		head = head.length === 0 ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength) : Buffer.concat([head, piece]);
		const offset = dataSetOffset(head);
		if (offset === undefined && head.length <= headBytesMax) continue;
		if (offset === undefined) break;
		if (offset > head.length) continue;
		if (offset < head.length) yield head.subarray(offset);
		head = undefined;
	}
	if (head !== undefined) throw new Failure('internal', 'a stored object is no DICOM file');
}
