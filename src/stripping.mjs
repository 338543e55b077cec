// Keeps the modules of this product without their types, since Node.js 22 strips them anew in each thread of each start. That is a third of the time of a start,
// and what strips them stays in memory. Node.js 24 keeps them itself, in its compile cache.
// It is loaded before everything else (`start.mjs`), and by threads and processes with the arguments of `core/stripping.ts`.
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { threadId } from 'node:worker_threads';

const root = join(import.meta.dirname, '..');
const packages = join(root, 'node_modules');
const folder = join(packages, '.cache/tributary', `stripped-${process.version}`);
const [ours, theirs] = [root, packages].map((path) => `${pathToFileURL(path).href}/`);

/** @param {string} text */
function strip(text) {
	// Node.js warns that the function is experimental. It is the one by which Node.js loads these modules.
	const { emitWarning } = process;
	process.emitWarning = () => undefined;
	try {
		return module.stripTypeScriptTypes(text);
	} finally {
		process.emitWarning = emitWarning;
	}
}

/** @param {string} text */
function stripped(text) {
	const file = join(folder, `${hash('sha256', text)}.js`);
	try {
		return readFileSync(file, 'utf8');
	} catch {
		// Nobody has stripped it yet.
	}
	const result = strip(text);
	try {
		mkdirSync(folder, { recursive: true });
		// Others may write the same at the same time; each reads a whole file.
		const own = `${file}.${process.pid}.${threadId}`;
		writeFileSync(own, result);
		renameSync(own, file);
	} catch {
		// Where nothing can be written, the next start strips it again.
	}
	return result;
}

if (process.versions.node.startsWith('22.')) {
	module.registerHooks({
		load(url, context, next) {
			if (!url.startsWith(ours) || url.startsWith(theirs) || !url.endsWith('.ts')) return next(url, context);
			return { format: 'module', source: stripped(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit: true };
		},
	});
	globalThis[Symbol.for('tributary.stripping')] = import.meta.url;
}
