import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rulesText } from './rules-text.ts';

/** Writes rules.yml anew: `npm run generate:alerts`. Run when the table of alerts changes. */
writeFileSync(join(import.meta.dirname, 'rules.yml'), rulesText());
