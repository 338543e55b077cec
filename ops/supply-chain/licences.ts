import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dependencies } from './dependencies.ts';
import { licencesText } from './licences-text.ts';

/** Writes docs/licences.md anew: `npm run licences`. Run when a dependency changes. */
writeFileSync(join(import.meta.dirname, '../../docs/licences.md'), licencesText(dependencies()));
