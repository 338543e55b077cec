import { DataSetError } from '#dicom/fault.ts';
import { dataSetOffset, type ReadFileMeta, readFileMeta } from '#dicom/part10.ts';

/** Reads the head of an object from its beginning; undefined when that is not one that was written. */
export function headOf(bytes: Buffer): (ReadFileMeta & { headBytes: number }) | undefined {
	try {
		const headBytes = dataSetOffset(bytes);
		const meta = readFileMeta(bytes);
		return headBytes === undefined ? undefined : { ...meta, headBytes };
	} catch (error) {
		if (error instanceof DataSetError) return undefined;
		throw error;
	}
}

/** Tells from the beginning of a stored object which instance it is and where its data set begins; undefined for anything else. */
export function storedHead(bytes: Buffer): { sopInstanceUid: string; headBytes: number } | undefined {
	const { sopInstanceUid, headBytes } = headOf(bytes) ?? {};
	return headBytes === undefined || sopInstanceUid === undefined ? undefined : { sopInstanceUid, headBytes };
}
