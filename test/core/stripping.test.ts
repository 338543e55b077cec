import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';

/** Node.js 24 keeps stripped modules itself. */
const isKept = process.versions.node.startsWith('22.');

/** A product of two modules, which prints what they say. */
class Product {
	readonly #root = mkdtempSync(join(tmpdir(), 'tributary-stripping-'));

	constructor(t: TestContext) {
		t.after(() => rmSync(this.#root, { recursive: true }));
		for (const folder of ['src', 'node_modules']) mkdirSync(join(this.#root, folder));
		copyFileSync(join(import.meta.dirname, '../../src/stripping.mjs'), join(this.#root, 'src/stripping.mjs'));
		writeFileSync(join(this.#root, 'package.json'), '{"type":"module"}');
		writeFileSync(join(this.#root, 'src/main.ts'), "import { said } from './said.ts';\nconsole.log(said satisfies string);\n");
		this.write("export const said: string = 'first';\n");
	}

	write(text: string): void {
		writeFileSync(join(this.#root, 'src/said.ts'), text);
	}

	get #cache(): string {
		return join(this.#root, 'node_modules/.cache/tributary', `stripped-${process.version}`);
	}

	kept(): string[] {
		return readdirSync(this.#cache);
	}

	/** Puts another text in the place of what is kept under a name. */
	replace(name: string, text: string): void {
		writeFileSync(join(this.#cache, name), text);
	}

	/** Makes the folder one in which nothing can be written. */
	close(): void {
		rmSync(join(this.#root, 'node_modules'), { recursive: true });
		writeFileSync(join(this.#root, 'node_modules'), '');
	}

	run(): { stdout: string; stderr: string } {
		const by = pathToFileURL(join(this.#root, 'src/stripping.mjs')).href;
		const { stdout, stderr } = spawnSync(process.execPath, ['--import', by, join(this.#root, 'src/main.ts')], {
			encoding: 'utf8',
			env: { PATH: process.env['PATH'] },
		});
		return { stdout, stderr };
	}
}

test('modules are stripped once, without a warning; later starts take what was kept', { skip: !isKept }, (t) => {
	const product = new Product(t);
	assert.deepEqual(product.run(), { stdout: 'first\n', stderr: '' });
	const kept = product.kept();
	assert.equal(kept.length, 2);
	for (const name of kept) product.replace(name, "export const said = 'kept';\nconsole.log(said);\n");
	assert.deepEqual(product.run(), { stdout: 'kept\n', stderr: '' });
	assert.deepEqual(product.kept(), kept);
});

test('a module that has changed is stripped anew', { skip: !isKept }, (t) => {
	const product = new Product(t);
	product.run();
	product.write("export const said: string = 'second';\n");
	assert.deepEqual(product.run(), { stdout: 'second\n', stderr: '' });
	assert.equal(product.kept().length, 3);
});

test('where nothing can be kept, modules are stripped at each start', (t) => {
	const product = new Product(t);
	product.close();
	assert.deepEqual(product.run(), { stdout: 'first\n', stderr: '' });
	assert.deepEqual(product.run(), { stdout: 'first\n', stderr: '' });
});
