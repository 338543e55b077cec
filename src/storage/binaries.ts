import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import type { Reader } from './reader.ts';
import { rowOf } from './search.ts';
import { plainArray } from './statement.ts';
import { readBinaryHead, readBinaryPiece } from './statements/read-binary.ts';
import { readRowsStatement } from './statements/read-rows.ts';

export interface StoredBinary {
	id: string;
	contentType: string;
	/** The DocumentReference to which it belongs. */
	documentId: string;
	size: number;
	/** FHIR instant. */
	lastUpdated: string;
}

/** Bytes of a piece: whole groups of base64, so that pieces are joined as they are. */
const pieceBytes = 3 * 256 * 1024;

/** Returns a Binary of the site; undefined when the site has none with this id. */
export async function findBinary(reader: Reader, siteId: string, id: string): Promise<StoredBinary | undefined> {
	if (!isFhirId(id)) return undefined;
	const [row] = await reader.run(readBinaryHead, [siteId, rowIdOf(id)]);
	if (row === undefined) return undefined;
	const [contentType, documentId, size, lastUpdated] = row as string[];
	return { id, contentType: contentType ?? '', documentId: documentId ?? '', size: Number(size), lastUpdated: lastUpdated ?? '' };
}

/**
 * Returns a Binary that a client wrote, by a query of its own: in a query of many reads, many large ones would be in memory together. It is
 * undefined when the site has none with this id.
 */
export async function findWrittenBinary(reader: Reader, siteId: string, table: string, id: string): Promise<StoredResource | undefined> {
	if (!isFhirId(id)) return undefined;
	const [row] = await reader.run(readRowsStatement(table), [plainArray([siteId]), plainArray([rowIdOf(id)])]);
	return row && rowOf(row.slice(1));
}

/** Reads its bytes as base64, piece by piece. */
export async function* readBinary(reader: Reader, siteId: string, { id, size }: StoredBinary): AsyncGenerator<string> {
	for (let from = 1; from <= size; from += pieceBytes) {
		const [row] = await reader.run(readBinaryPiece, [siteId, rowIdOf(id), from, pieceBytes]);
		const piece = row?.[0];
		if (piece === undefined || piece === null) throw new Error('a binary is not there any more');
		yield piece;
	}
}
