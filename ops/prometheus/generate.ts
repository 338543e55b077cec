import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rulesText, runbookText } from './rules-text.ts';

/** Writes rules.yml and the chapter of docs/operations.md anew: `npm run generate:alerts`. Run when the table of alerts changes. */
writeFileSync(join(import.meta.dirname, 'rules.yml'), rulesText());
const operations = join(import.meta.dirname, '../../docs/operations.md');
writeFileSync(
	operations,
	readFileSync(operations, 'utf8').replace(/## Alerts\n[\s\S]*$/, () => runbookText()),
);
