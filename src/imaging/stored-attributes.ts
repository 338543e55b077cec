import { Failure } from '#core/failure.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { DataSetScanner, type ScanLimits } from '#dicom/scanner.ts';
import type { InstanceAttributes } from '#record/instance.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';

/** The head that `part10Head` writes is shorter: preamble, prefix, and nine elements of at most 64 bytes. */
const headBytesMax = 1024;

/**
 * Reads the attributes by which an object was filed from the object itself.
 * @throws Failure `not-found`, `unavailable` by the store, `unprocessable` when the object is not the one that was written
 */
export async function readAttributes(objects: ObjectStore, key: string, limits: ScanLimits): Promise<InstanceAttributes> {
	let head = Buffer.alloc(0);
	let scanner: DataSetScanner | undefined;
	for await (const chunk of objects.read(key)) {
		if (scanner) {
			if (!scanner.feed(chunk)) break;
			continue;
		}
		head = Buffer.concat([head, chunk]);
		if (head.length < headBytesMax) continue;
		scanner = begin(head, limits);
		if (!scanner) break;
	}
	scanner ??= begin(head, limits);
	const result = scanner?.end();
	if (result && 'attributes' in result) return result.attributes;
	throw new Failure('unprocessable', 'the object cannot be read as a DICOM file');
}

/** Returns undefined when the file does not state how its data set is encoded. */
function begin(head: Buffer, limits: ScanLimits): DataSetScanner | undefined {
	const { transferSyntaxUid, dataSetOffset } = readFileMeta(head);
	if (transferSyntaxUid === undefined) return undefined;
	const scanner = new DataSetScanner(transferSyntaxUid, limits, 'lenient');
	scanner.feed(head.subarray(dataSetOffset));
	return scanner;
}
