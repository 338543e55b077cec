import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { bundleConsole, type ConsoleAssets } from '#surfaces/admin/console-assets.ts';

/** What a first visit costs, over a hospital's line to another town. */
const bytesMax = 60 * 1024;
const requestsMax = 5;

describe('the files of the console', () => {
	let assets: ConsoleAssets;
	before(async () => {
		assets = await bundleConsole(new URL('../../src/console/index.html', import.meta.url));
	});

	test('are few and small', () => {
		const all = [assets.page, ...assets.files.values()];
		const bytes = all.reduce((sum, { br }) => sum + br.byteLength, 0);
		assert.ok(bytes <= bytesMax, `${bytes} bytes, compressed`);
		assert.ok(all.length <= requestsMax, `${all.length} files`);
	});

	test('name no other origin and hold no script or style of their own', () => {
		const page = Buffer.from(assets.page.plain).toString('utf8');
		assert.doesNotMatch(page, /<style|style=|<script(?![^>]* src=)|\bon\w+=/);
		for (const [name, { plain }] of [...assets.files, ['index.html', assets.page] as const]) {
			const text = Buffer.from(plain)
				.toString('utf8')
				.replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/g, '');
			const foreign = [...text.matchAll(/https?:\/\/[\w.-]+/g)].map(([origin]) => origin);
			assert.deepEqual(foreign, [], name);
		}
	});
});
