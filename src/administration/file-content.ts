import { z } from 'zod';

/** A file that an operation gives. It is read as fast as it is taken. */
export interface FileContent {
	/** The name has no folder. */
	name: string;
	contentType: string;
	bytes: AsyncIterable<Uint8Array>;
}

/** The output of an operation that gives a file in place of JSON. */
export const fileContent = z.custom<FileContent>((value) => typeof value === 'object' && value !== null && 'bytes' in value);
