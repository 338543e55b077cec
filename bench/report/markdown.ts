import { figure } from './plot.ts';

/** Tables whose columns are as wide as their longest cell. Columns named in `right` stand to the right. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[], right: readonly string[] = []): string {
	const widths = head.map((name, column) => Math.max(3, name.length, ...rows.map((row) => row[column]?.length ?? 0)));
	const line = (cells: readonly string[]) =>
		`| ${cells.map((cell, column) => (right.includes(head[column] ?? '') ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
	const rule = `| ${widths.map((width, column) => (right.includes(head[column] ?? '') ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`;
	return [line(head), rule, ...rows.map(line)].join('\n');
}

export const msOf = (value: number | null | undefined) =>
	value === null || value === undefined || !Number.isFinite(value) ? '–' : figure(value);
