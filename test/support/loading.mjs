// How the processes of test/run.mjs read their modules: tests through tsx, as `package.json` says. Their threads read modules as production does, and those
// of a service as bundles (`bundled-workers.ts`), if the run has made them.
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const bundles = process.env['TRIBUTARY_TEST_WORKERS'];

if (isMainThread) await import('tsx');
else {
	await import('../../src/stripping.mjs');
	if (bundles !== undefined) readBundles(bundles);
}

/** @param {string} folder */
function readBundles(folder) {
	const workers = `${pathToFileURL(join(import.meta.dirname, '../../workers')).href}/`;
	module.registerHooks({
		resolve(specifier, context, next) {
			const found = next(specifier, context);
			const name = found.url.startsWith(workers) && /^([a-z-]+)\.ts$/.exec(found.url.slice(workers.length))?.[1];
			return name ? { url: pathToFileURL(join(folder, `${name}.mjs`)).href, format: 'module', shortCircuit: true } : found;
		},
	});
}
