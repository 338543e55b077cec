import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { generateStandardKeywords } from './generator/standard-keywords.ts';
import { type DictionaryElement, generateStandardVrs } from './generator/standard-vrs.ts';

/** Writes `standard-vrs.ts` and `standard-keywords.ts` anew: `npm run generate:dicom`. Run when dcmjs or the generator changes; nothing of it runs in the service. */

const load: (name: string) => unknown = createRequire(import.meta.url);
const { data } = load('dcmjs') as { data: { DicomMetaDictionary: { nameMap: Record<string, DictionaryElement> } } };

const { nameMap } = data.DicomMetaDictionary;
writeFileSync(join(import.meta.dirname, 'standard-vrs.ts'), generateStandardVrs(Object.values(nameMap)));
writeFileSync(join(import.meta.dirname, 'standard-keywords.ts'), generateStandardKeywords(Object.entries(nameMap)));
