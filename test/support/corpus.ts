import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { corpusDirectory } from './needs.ts';

export interface CorpusFile {
	path: string;
	type: string;
	expect: string;
	reason: string;
	/** MSH-18, or Specific Character Set (0008,0005); empty where there is none. */
	charset: string;
	/** Of DICOM files. */
	sopClass: string;
	transferSyntax: string;
	quirks: string;
	bytes: Buffer;
}

/** Rows of the index of one kind, in its order. */
export function corpusFiles(kind: string): CorpusFile[] {
	const [header = [], ...rows] = readCsv(readFileSync(join(corpusDirectory, 'index.csv'), 'utf8'));
	const column = (row: string[], name: string) => row[header.indexOf(name)] ?? '';
	return rows
		.filter((row) => column(row, 'kind') === kind)
		.map((row) => ({
			path: column(row, 'path'),
			type: column(row, 'type'),
			expect: column(row, 'expect'),
			reason: column(row, 'reason'),
			charset: column(row, 'charset'),
			sopClass: column(row, 'sop_class'),
			transferSyntax: column(row, 'transfer_syntax'),
			quirks: column(row, 'quirks'),
			bytes: readFileSync(join(corpusDirectory, column(row, 'path'))),
		}));
}

/** RFC 4180. */
function readCsv(text: string): string[][] {
	const rows: string[][] = [];
	let row: string[] = [];
	for (const match of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
		row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
		if (match[3] === ',') continue;
		if (row.length > 1) rows.push(row);
		row = [];
	}
	return rows;
}

/** The bytes with every LF and CRLF turned into CR, as the index assumes. */
export function withCarriageReturns(bytes: Buffer): Buffer {
	return Buffer.from(bytes.toString('latin1').replace(/\r\n|\n/g, '\r'), 'latin1');
}
