import { saveFile } from './save-file.ts';

/** Lists as files. The members are those of the admin API, so that a file and a script name them alike. */

/** A file has no more rows. */
export const csvRowsMax = 10_000;

/** Renders rows as CSV (RFC 4180). A member that only some rows have has a column, too. */
export function csvOf(rows: readonly object[]): string {
	const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
	const lines = rows.map((row) => names.map((name) => textOf((row as Readonly<Record<string, unknown>>)[name])));
	return [names, ...lines].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function textOf(value: unknown): string {
	if (value === null || value === undefined) return '';
	if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.join(' ');
	return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Senders choose some of these values, so a value that a spreadsheet would run as a formula is turned into text. */
function cellOf(text: string): string {
	return `"${(/^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

/** Saves rows as a file that spreadsheets open. */
export function saveCsv(name: string, rows: readonly object[]): void {
	saveFile(`${name}.csv`, 'text/csv;charset=utf-8', csvOf(rows));
}
