import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Seeded } from '#test/trust/seeded.ts';
import { mutated } from './mutate.ts';
import { type Format, inventedSeeds } from './seeds.ts';
import { formats, targets } from './targets.ts';

const folder = join(import.meta.dirname, 'findings');

function formatOf(name: string): Format {
	const format = formats.find((known) => name.startsWith(`${known}-`));
	if (format === undefined) throw new Error(`${name} is named after no format`);
	return format;
}

describe('inputs that once were more than a reader could take', () => {
	for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
		test(`${name} is read or refused`, () => targets[formatOf(name)](readFileSync(join(folder, name))));
	}
});

describe('inputs that are nearly valid', () => {
	for (const format of formats) {
		test(`of ${format} are read or refused`, () => {
			const chance = new Seeded(20_260_314);
			for (let count = 0; count < 100; count++) targets[format](mutated(format, inventedSeeds(format), chance));
		});
	}
});
