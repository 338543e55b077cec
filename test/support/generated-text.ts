import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Without the padding that the formatter gives tables. */
const squeezed = (text: string) =>
	text
		.replace(/[ \n]+/g, ' ')
		.replace(/-{3,}/g, '---')
		.trim();

/**
 * A document says what the definitions say. `held` is what it says now, once; with UPDATE_CONFORMANCE=1 in the environment it is
 * replaced by what was generated.
 */
export function assertGenerated(document: string, held: RegExp, generated: string): void {
	const path = join(import.meta.dirname, '../..', document);
	const text = readFileSync(path, 'utf8');
	const [before] = held.exec(text) ?? assert.fail(`${document} does not hold ${held}`);
	if (process.env['UPDATE_CONFORMANCE'])
		writeFileSync(
			path,
			text.replace(before, () => generated),
		);
	else assert.equal(squeezed(before), squeezed(generated), `${document}: UPDATE_CONFORMANCE=1 writes it anew`);
}

export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
	const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
	return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
