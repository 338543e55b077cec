import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { trustDocument } from './document.ts';
import { keptResults } from './results.ts';

const path = new URL('../../docs/trust.md', import.meta.url);

describe('docs/trust.md', () => {
	test('is what the kept results give, none of which failed', () => {
		const kept = keptResults();
		assert.deepEqual(
			kept.filter(([, { passed }]) => !passed),
			[],
		);
		if (process.env['UPDATE_CONFORMANCE']) writeFileSync(path, trustDocument(kept));
		assert.equal(readFileSync(path, 'utf8'), trustDocument(kept));
	});

	test('says so where no run is kept', () => {
		assert.match(trustDocument([]), /no run is kept/);
	});
});
