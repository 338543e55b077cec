import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { bundleConsole, type ConsoleAssets } from '#surfaces/admin/console-assets.ts';

/** All files of the console, compressed, for a hospital's line to another town. The image codecs are not among them: they load when first needed. */
const bytesMax = 300 * 1024;
const requestsMax = 5;

/** The files of an image codec are named after it: `/assets/codec-jpeg2000-3F2A61BC.wasm`. */
const isCodec = (path: string) => path.startsWith('/assets/codec-') || path.endsWith('.wasm');

/** The files that the page names, and those that these import at once. */
function loadedAtOnce({ page, files }: ConsoleAssets): Set<string> {
	const found = new Set<string>();
	const follow = (text: string, pattern: RegExp) => {
		for (const [, name = ''] of text.matchAll(pattern)) {
			const path = `/assets/${name}`;
			if (found.has(path)) continue;
			found.add(path);
			follow(Buffer.from(files.get(path)?.plain ?? []).toString('utf8'), /(?:from|import)"\.\/([^"]+)"/g);
		}
	};
	const html = Buffer.from(page.plain)
		.toString('utf8')
		.replace(/<link rel="image-decoder"[^>]*>/, '');
	follow(html, /"\/assets\/([^"]+)"/g);
	return found;
}

describe('the files of the console', () => {
	let assets: ConsoleAssets;
	before(async () => {
		assets = await bundleConsole(new URL('../../src/console/index.html', import.meta.url));
	});

	test('are few and small', () => {
		const all = [assets.page, ...[...assets.files].flatMap(([path, file]) => (isCodec(path) ? [] : [file]))];
		const bytes = all.reduce((sum, { br }) => sum + br.byteLength, 0);
		assert.ok(bytes <= bytesMax, `${bytes} bytes, compressed`);
		const first = loadedAtOnce(assets);
		assert.ok(first.size < requestsMax, `${[...first].join(', ')}`);
		assert.ok(![...first].some((path) => /viewer|worker|codec|wasm/.test(path)), 'what images need is loaded when somebody looks at one');
	});

	test('name no other origin and hold no script or style of their own', () => {
		const page = Buffer.from(assets.page.plain).toString('utf8');
		assert.doesNotMatch(page, /<style|style=|<script(?![^>]* src=)|\bon\w+=/);
		for (const [name, { plain }] of [...assets.files, ['index.html', assets.page] as const]) {
			if (name.endsWith('.wasm')) continue;
			const text = Buffer.from(plain)
				.toString('utf8')
				.replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/g, '');
			const foreign = [...text.matchAll(/https?:\/\/[\w.-]+/g)].map(([origin]) => origin);
			assert.deepEqual(foreign, [], name);
		}
	});
});
