import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { asObject, asObjects } from '#fhir/elements.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { type CorpusFile, corpusFiles } from '#test/support/corpus.ts';
import { without } from '#test/support/needs.ts';

const limits = { depthMax: 100 };
const documentation = readFileSync(new URL('../../../docs/conformance/fhir-validation.md', import.meta.url), 'utf8');

/** The second cell of each row that names a file, by what it calls it. */
const decisions = new Map(
	[...documentation.matchAll(/^\| `([^`]+\.(?:json|ndjson))`\s*\| (\w+)/gm)].map(([, file = '', decision = '']) => [file, decision]),
);

function decisionOf({ path }: CorpusFile): string | undefined {
	const [, decision] = [...decisions].find(([name]) => path.endsWith(`/${name}`)) ?? [];
	return decision;
}

function faultsOf(body: Uint8Array): string[] {
	try {
		return validateResource(parseResourceJson(body, limits)).map(({ expression, diagnostics }) => `${expression}: ${diagnostics}`);
	} catch (failure) {
		assert.ok(failure instanceof Failure);
		return [failure.diagnostics];
	}
}

/** What a file has several of, each as a body of its own. */
function partsOf(file: CorpusFile): (JsonObject | string)[] {
	if (file.type !== 'ndjson') {
		const entries = asObjects(parseResourceJson(file.bytes, limits)['entry']);
		return entries.map((entry) => asObject(entry['resource'])).filter((resource) => resource !== undefined);
	}
	const lines = file.bytes.toString().replace('\ufeff', '').split('\n');
	return lines.filter((line) => line.trim() !== '');
}

function isRefused(part: JsonObject | string): boolean {
	if (typeof part === 'string') return faultsOf(Buffer.from(part)).length > 0;
	return validateResource(part, { conditionalReferences: true }).length > 0;
}

describe('the shared FHIR files', { skip: without('corpus') }, () => {
	for (const file of without('corpus') ? [] : corpusFiles('fhir')) {
		const name = basename(file.path);
		if (file.expect === 'accept') {
			test(`${name} is valid`, () => {
				assert.deepEqual(faultsOf(file.bytes), []);
			});
		} else if (file.expect === 'reject') {
			test(`${name} is refused: ${file.reason}`, () => {
				assert.notDeepEqual(faultsOf(file.bytes), []);
			});
		} else if (file.expect === 'unclear') {
			test(`${name} is as the documentation decides`, () => {
				assert.equal(faultsOf(file.bytes).length === 0 ? 'valid' : 'refused', decisionOf(file));
			});
		} else {
			test(`of the parts of ${name} as many are refused as the documentation says`, () => {
				const refused = partsOf(file).filter(isRefused);
				assert.equal(String(refused.length), decisionOf(file) ?? '0');
			});
		}
	}
});
