import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';

const original = join(import.meta.dirname, '../..');
const copied = ['src', 'workers', 'migrations', 'bench', 'ops', 'test', 'package.json', 'tsconfig.json'];

interface Differences {
	/** Files that the original does not have. */
	added: string[];
	/** The lines that were put between those of the original. Where one of the original is gone, all behind it count as gone, with a minus. */
	changed: Record<string, string[]>;
}

/** A copy of the product in a folder of its own, to which something is added. */
export class CopiedTree implements Disposable {
	readonly root = mkdtempSync(join(tmpdir(), 'tributary-additions-'));

	constructor() {
		for (const name of copied) cpSync(join(original, name), join(this.root, name), { recursive: true });
		symlinkSync(join(original, 'node_modules'), join(this.root, 'node_modules'));
	}

	/** Adds a file; `from` is one of `files`. */
	addFile(path: string, from: string): void {
		const content = readFileSync(join(import.meta.dirname, 'files', from));
		writeFileSync(join(this.root, path), content, { flag: 'wx' });
	}

	/** The migration gets the number that is next. */
	addMigration(name: string, from: string): string {
		const last = readdirSync(join(this.root, 'migrations')).sort().at(-1) ?? '';
		const path = `migrations/${String(Number.parseInt(last, 10) + 1).padStart(4, '0')}-${name}.ts`;
		this.addFile(path, from);
		return path;
	}

	/** Adds a row to the table of a file, at its end, and the import that the row needs. */
	addRow(path: string, name: string, from: string): void {
		const lines = readFileSync(join(this.root, path), 'utf8').split('\n');
		const end = lines.findIndex((line) => /^\](?: as const)?;$/.test(line));
		if (end < 0) throw new Error(`${path} has no table`);
		lines.splice(end, 0, `\t${name},`);
		lines.unshift(`import { ${name} } from '${from}';`);
		writeFileSync(join(this.root, path), lines.join('\n'));
	}

	differences(): Differences {
		const added: string[] = [];
		const changed: Record<string, string[]> = {};
		for (const path of this.#files()) {
			const before = linesOf(join(original, path));
			if (before === undefined) {
				added.push(path);
				continue;
			}
			const lines = differing(before, linesOf(join(this.root, path)) ?? []);
			if (lines.length > 0) changed[path] = lines;
		}
		return { added, changed };
	}

	#files(): string[] {
		return copied.flatMap((name) => {
			if (!statSync(join(this.root, name)).isDirectory()) return [name];
			const entries = readdirSync(join(this.root, name), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
			return entries.map((entry) => relative(this.root, join(entry.parentPath, entry.name))).sort();
		});
	}

	/** What the compiler finds in the copy; '' where it finds nothing. */
	async typeErrors(): Promise<string> {
		const checks = ['.', 'src/console'].map((project) => {
			const compiler = spawn(process.execPath, ['node_modules/.bin/tsc', '-p', project], {
				cwd: this.root,
				stdio: ['ignore', 'pipe', 'inherit'],
			});
			return text(compiler.stdout);
		});
		return (await Promise.all(checks)).join('');
	}

	[Symbol.dispose](): void {
		rmSync(this.root, { recursive: true, force: true });
	}
}

function differing(before: readonly string[], after: readonly string[]): string[] {
	let next = 0;
	const inserted = after.filter((line) => {
		if (line !== before[next]) return true;
		next += 1;
		return false;
	});
	return [...inserted, ...before.slice(next).map((line) => `- ${line}`)];
}

function linesOf(path: string): string[] | undefined {
	try {
		return readFileSync(path, 'utf8').split('\n');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
		throw error;
	}
}
