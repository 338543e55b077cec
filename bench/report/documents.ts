import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { allRatios } from '../suite/ratios.ts';
import { keptResults, readResult } from '../suite/result.ts';
import { capacityDocument } from './capacity.ts';
import { type Kept, performanceDocument } from './performance.ts';

/** Returns the documents that are made from the kept results, by their paths in the repository. */

const root = new URL('../../', import.meta.url);

export function keptRuns(): Kept[] {
	if (!existsSync(keptResults)) return [];
	const names = readdirSync(keptResults).filter((name) => name.endsWith('.json'));
	// The comparisons first, then the suite, then what was measured alone.
	const place = (name: string) => (name.startsWith('compare') ? 0 : name === 'suite.json' ? 1 : 2);
	return names
		.sort((one, other) => place(one) - place(other) || one.localeCompare(other))
		.map((name) => ({ name: name.replace('.json', ''), result: readResult(fileURLToPath(new URL(name, keptResults))) }));
}

export function documents(kept: readonly Kept[] = keptRuns()): Record<string, string> {
	const ratios = Object.fromEntries(kept.map(({ name, result }) => [name, { commit: result.commit, ratios: allRatios(result) }]));
	return {
		'docs/performance.md': performanceDocument(kept),
		'docs/capacity.md': capacityDocument(kept),
		'bench/baseline.json': `${JSON.stringify(ratios, undefined, '\t')}\n`,
	};
}

export function writeDocuments(): string[] {
	const written = documents();
	for (const [path, text] of Object.entries(written)) writeFileSync(new URL(path, root), text);
	return Object.keys(written);
}
