import { DataSetError } from '#dicom/fault.ts';
import { dataSetOffset, readFileMeta } from '#dicom/part10.ts';

/** Tells from the beginning of a stored object which instance it is and where its data set begins; undefined for anything else. */
export function storedHead(bytes: Buffer): { sopInstanceUid: string; headBytes: number } | undefined {
	try {
		const headBytes = dataSetOffset(bytes);
		const { sopInstanceUid } = readFileMeta(bytes);
		return headBytes === undefined || sopInstanceUid === undefined ? undefined : { sopInstanceUid, headBytes };
	} catch (error) {
		if (error instanceof DataSetError) return undefined;
		throw error;
	}
}
