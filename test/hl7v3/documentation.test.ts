import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { interactions } from '#hl7v3/interactions/index.ts';
import { assertGenerated, tableOf } from '#test/support/generated-text.ts';

test('docs/conformance/hl7v3.md has a row for each interaction', () => {
	const rows = interactions.map(({ name, meaning, effect }) => [`${name} (${meaning})`, effect]);
	const others = [
		['ClinicalDocument', 'a document: see [below](#clinical-documents)'],
		['any other', '422, naming the interaction'],
	];
	assertGenerated(
		'docs/conformance/hl7v3.md',
		/\| element +\| effect +\|\n(\|[^\n]*\n)*\|[^\n]*/,
		tableOf(['element', 'effect'], [...rows, ...others]),
	);
});

test('README.md names each interaction', () => {
	const text = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
	const line = /HL7 v3: ([^,]*(?:, [^,]*)*? and \S+)/.exec(text.replaceAll('\n', ' '))?.[1] ?? '';
	assert.deepEqual(
		[...line.matchAll(/20\d{4}UV\d\d/g)].map(([name]) => `PRPA_IN${name}`),
		interactions.map(({ name }) => name),
	);
});
