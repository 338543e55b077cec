import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { includesOf, operations, reverseIncludesOf } from '#fhir/capability-statement.ts';
import type { ResourceDefinition, SearchParameter } from '#fhir/resource.ts';
import { resources } from '#fhir/resources/index.ts';
import { commonParameters } from '#fhir/search/parameter.ts';
import { sortColumn } from '#fhir/search/result.ts';
import { hasCodes } from '#fhir/search/subsumption.ts';

const path = join(import.meta.dirname, '../../docs/conformance/fhir.md');
const [begin, end] = ['<!-- from the definitions -->', '<!-- /from the definitions -->'];

/** What test/conformance/search-oracle.test.ts has searched for through the socket, and found as the expression of R4 does. */
const passed = JSON.parse(readFileSync(join(import.meta.dirname, '../conformance/passed-searches.json'), 'utf8')) as Record<
	string,
	string[]
>;

function hasText(parameter: SearchParameter & { type: 'token' }): boolean {
	if (parameter.match === 'element') return parameter.textPaths !== undefined;
	return parameter.match === 'coding' || parameter.match === 'identifier';
}

function modifiersOf(parameter: SearchParameter): string {
	switch (parameter.type) {
		case 'string':
			return parameter.match === 'sound' ? '`:missing`' : '`:exact` `:contains` `:missing`';
		case 'token':
			return [
				'`:not`',
				...(hasText(parameter) ? ['`:text`'] : []),
				...(parameter.ofType === undefined ? [] : ['`:of-type`']),
				...(hasCodes(parameter) ? ['`:in` `:not-in` `:below` `:above`'] : []),
				'`:missing`',
			].join(' ');
		case 'reference':
			return parameter.match === 'column' && parameter.path === undefined ? '`:[type]` `:missing`' : '`:[type]` `:identifier` `:missing`';
		case 'composite':
			return '–';
		default:
			return '`:missing`';
	}
}

function parameterRow([name, parameter]: [string, SearchParameter], type = ''): string {
	const marks = [passed[type]?.includes(name) ? 'yes' : '–', sortColumn(parameter) ? 'yes' : '–'];
	return `| \`${name}\` | ${parameter.type} | ${modifiersOf(parameter)} | ${marks.join(' | ')} | ${parameter.documentation.replaceAll('|', '\\|')} |`;
}

function section(definition: ResourceDefinition): string {
	const names = (list: readonly string[]) => (list.length === 0 ? '–' : list.map((name) => `\`${name}\``).join(', '));
	const served = operations.filter((operation) => operation.types(definition)).map(({ name }) => `$${name}`);
	return [
		`### ${definition.type}`,
		'',
		`Interactions: ${definition.interactions.join(', ')}${definition.writtenIf === undefined ? '' : `; writes where the setting \`${definition.writtenIf}\` of the site is on`}. Operations: ${names(served)}. \`_include\`: ${names(includesOf(definition))}. \`_revinclude\`: ${names(reverseIncludesOf(definition))}.`,
		'',
		'| parameter | type | modifiers | passed | `_sort` | finds |',
		'| --- | --- | --- | --- | --- | --- |',
		...Object.entries(definition.search).map((row) => parameterRow(row, definition.type)),
	].join('\n');
}

/** Without the padding that the formatter gives tables, and with its sign of emphasis. */
const squeezed = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---').replaceAll('*', '_').trim();

test('docs/conformance/fhir.md says what the definitions say; with UPDATE_CONFORMANCE=1 in the environment it is written anew', () => {
	const common = ['| parameter | type | modifiers | passed | `_sort` | finds |', '| --- | --- | --- | --- | --- | --- |'];
	const generated = [
		'Of every type:',
		'',
		...common,
		...Object.entries(commonParameters).map((row) => parameterRow(row)),
		'',
		...Object.values(resources).map((definition) => `${section(definition)}\n`),
	].join('\n');
	const text = readFileSync(path, 'utf8');
	const [before, rest] = [text.slice(0, text.indexOf(begin) + begin.length), text.slice(text.indexOf(end))];
	if (process.env['UPDATE_CONFORMANCE']) writeFileSync(path, `${before}\n\n${generated}\n${rest}`);
	const held = text.slice(text.indexOf(begin) + begin.length, text.indexOf(end));
	assert.equal(squeezed(held), squeezed(generated));
});
