#!/usr/bin/env node
// Runs on any Node, so that one that is too old is told so in a sentence instead of a stack trace.
import module from 'node:module';
import { join } from 'node:path';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
	// Modules are compiled once and kept beside the packages; where nothing can be written they are compiled anew.
	module.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tributary'));
	await import('./stripping.mjs');
	const { main } = await import('./main.ts');
	process.exitCode = await main(process.argv.slice(2));
} else {
	console.error(
		`Tributary needs Node.js 22.18 or newer (this is ${process.versions.node}). Run: npx -y -p node@22 -c "npm ci && npm start"`,
	);
	process.exitCode = 2;
}
