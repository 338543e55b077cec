import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CompiledConsole, type ConsoleFile, compressed, pageName, readBuilt } from './coded-file.ts';

export interface ConsoleAssets {
	/** The page, which refers to the files by their final names. */
	page: ConsoleFile;
	/** Files by path, such as `/assets/main-3F2A61BC.js`. The name follows from the content. */
	files: ReadonlyMap<string, ConsoleFile>;
}

/** Matches `<meta name="fhir-port" content="8080">`, which passes facts to the page. */
const meta = /<meta name="([^"]+)" content="[^"]*">/g;

/**
 * Returns what an index.html loads (TypeScript with JSX, CSS, images), bundled for browsers. An installation has it bundled beside its
 * index.html; in a checkout it is bundled now.
 * `facts`: contents of meta elements, by name; letters, digits and commas. Rejects when something does not compile. Services of one
 * process share what was compiled.
 */
export async function bundleConsole(index: URL, facts: Readonly<Record<string, string>> = {}): Promise<ConsoleAssets> {
	const { html, files } = await compiledOnce(fileURLToPath(index));
	const page = html.replace(meta, (whole, name: string) => (name in facts ? `<meta name="${name}" content="${facts[name]}">` : whole));
	return { page: await compressed('index.html', Buffer.from(page)), files };
}

const compiled = new Map<string, Promise<CompiledConsole>>();

function compiledOnce(path: string): Promise<CompiledConsole> {
	const compiling = compiled.get(path) ?? compile(path);
	compiled.set(path, compiling);
	compiling.catch(() => compiled.delete(path));
	return compiling;
}

/** The folder beside an index.html that has what it loads as it is served. */
const builtFolder = 'built';

async function compile(path: string): Promise<CompiledConsole> {
	const built = join(dirname(path), builtFolder);
	if (existsSync(join(built, pageName))) return readBuilt(built);
	// The bundler is not part of an installation.
	const { compileConsole, compileConsoleOnce } = await import('./console-bundle.ts');
	const root = join(dirname(path), '../..');
	const packages = join(root, 'package-lock.json');
	return existsSync(packages) ? compileConsoleOnce(path, join(root, 'node_modules/.cache/tributary'), packages) : compileConsole(path);
}
