import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { CompiledConsole } from '#surfaces/admin/coded-file.ts';
import { bundleConsole } from '#surfaces/admin/console-assets.ts';
import { compileConsoleOnce } from '#surfaces/admin/console-bundle.ts';
import { testService } from '#test/support/service.ts';

/** The raw answer: fetch would undo the coding. */
async function page(origin: string, path: string, headers: Record<string, string> = {}) {
	const answer = await fetch(`${origin}${path}`, { headers });
	return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

describe('the console', () => {
	test('is served with names that follow from its content, and the page at every path that is nothing else', async () => {
		await using service = await testService();
		const origin = `http://127.0.0.1:${service.port('admin')}`;
		const { status, headers, text } = await page(origin, '/');
		assert.deepEqual([status, headers.get('content-type'), headers.get('cache-control')], [200, 'text/html; charset=utf-8', 'no-cache']);
		const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
		const named = files.map((path) => path.replace(/-[A-Z0-9]{8}\./, '.'));
		for (const name of ['/assets/main.css', '/assets/main.js']) assert.ok(named.includes(name), text);
		for (const path of files) {
			const file = await page(origin, path, { 'Accept-Encoding': 'gzip, br' });
			assert.equal(file.status, 200);
			assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable');
			assert.equal(file.headers.get('x-content-type-options'), 'nosniff');
			assert.equal(file.headers.get('content-encoding'), 'br');
			assert.equal(file.headers.get('vary'), 'Accept-Encoding');
		}
		for (const path of ['/sites', '/messages/0199c0de-0000-7000-8000-000000000002', '/index.html'])
			assert.equal((await page(origin, path)).text, text, path);
		for (const path of ['/api', '/api/', '/api/v2/sites', '/assets', '/assets/main-00000000.js', '/assets/..%2fmain.tsx']) {
			const missing = await page(origin, path);
			assert.equal(missing.status, 404, path);
			assert.match(missing.text, /^\{"error":"/);
		}
		assert.equal((await fetch(`${origin}/sites`, { method: 'POST' })).status, 404);
		assert.equal((await fetch(`${origin}/`, { method: 'HEAD' })).status, 200);
	});

	test('is not sent again to who has it, in each coding', async () => {
		await using service = await testService();
		const origin = `http://127.0.0.1:${service.port('admin')}`;
		const tags = new Set<string>();
		for (const coding of ['br', 'gzip', 'identity']) {
			const { headers } = await page(origin, '/', { 'Accept-Encoding': coding });
			const tag = headers.get('etag') ?? '';
			tags.add(tag);
			assert.equal(headers.get('content-encoding'), coding === 'identity' ? null : coding);
			assert.equal((await page(origin, '/', { 'Accept-Encoding': coding, 'If-None-Match': `"other", W/${tag}` })).status, 304);
			assert.equal((await page(origin, '/', { 'Accept-Encoding': coding, 'If-None-Match': '"other"' })).status, 200);
		}
		assert.equal(tags.size, 3);
	});

	test('every answer of the origin forbids what is not of it', async () => {
		await using service = await testService();
		const origin = `http://127.0.0.1:${service.port('admin')}`;
		for (const path of ['/', '/api/v1/session', '/api/v1/nothing', '/assets/none.js']) {
			const { headers } = await page(origin, path);
			const policy = headers.get('content-security-policy') ?? '';
			assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'/);
			assert.match(policy, /frame-ancestors 'none'$/);
			assert.doesNotMatch(policy, /unsafe|\*/);
			assert.equal(headers.get('x-content-type-options'), 'nosniff');
			assert.equal(headers.get('x-frame-options'), 'DENY');
			assert.equal(headers.get('referrer-policy'), 'no-referrer');
			assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
			assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
			if (path.startsWith('/api')) assert.equal(headers.get('cache-control'), 'no-store');
		}
	});
});

describe('the bundle', () => {
	async function bundled(files: Record<string, string>) {
		const folder = mkdtempSync(join(tmpdir(), 'tributary-console-'));
		try {
			for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
			return await bundleConsole(pathToFileURL(join(folder, 'index.html')));
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	}
	const index =
		'<link rel="icon" href="icon.svg"><script type="module" src="main.ts"></script><a href="/sites"></a><a href="https://a.b/c">';

	test('has what the page names and what that imports, and leaves other addresses alone', async () => {
		const files = {
			'index.html': index,
			'icon.svg': '<svg/>',
			'main.ts': "const later: Promise<unknown> = import('./later.ts');\nlater.then(document.write);",
			'later.ts': "export const text = 'later';",
		};
		const { page: html, files: made } = await bundled(files);
		const names = [...made.keys()].map((name) => name.replace(/-[A-Z0-9]{8}\./, '.')).sort();
		assert.deepEqual(names, ['/assets/icon.svg', '/assets/later.js', '/assets/main.js']);
		const text = Buffer.from(html.plain).toString();
		assert.match(text, /href="\/assets\/icon-[A-Z0-9]{8}\.svg"/);
		assert.match(text, /href="\/sites".*href="https:\/\/a\.b\/c"/);
		for (const { plain, br, gzip } of made.values()) {
			assert.deepEqual(brotliDecompressSync(br), Buffer.from(plain));
			assert.deepEqual(gunzipSync(gzip), Buffer.from(plain));
		}
		const changed = await bundled({ ...files, 'later.ts': "export const text = 'sooner';" });
		assert.notDeepEqual([...changed.files.keys()].sort(), [...made.keys()].sort());
	});

	test('of a checkout is kept until a file that went into it changes, and compiled each time where nothing can be kept', async (t) => {
		const folder = mkdtempSync(join(tmpdir(), 'tributary-console-'));
		t.after(() => rmSync(folder, { recursive: true, force: true }));
		const [page, packages, cache] = ['index.html', 'package-lock.json', 'cache'].map((name) => join(folder, name)) as [
			string,
			string,
			string,
		];
		const compile = (into = cache) => compileConsoleOnce(page, into, packages);
		const textOf = ({ files }: CompiledConsole) => [...files.values()].map(({ plain }) => Buffer.from(plain).toString().trim());
		// Long before they are compiled, for a file system may tell the time by some milliseconds.
		const write = (path: string, text: string) => {
			writeFileSync(path, text);
			utimesSync(path, 1, 1);
		};
		write(page, '<script type="module" src="main.ts"></script>');
		write(packages, '{}');
		write(join(folder, 'main.ts'), "document.title = 'first';");
		assert.deepEqual(textOf(await compile(packages)), ['document.title="first";'], 'a file is no folder');
		mkdirSync(cache);
		const first = await compile();
		const [kept = ''] = readdirSync(cache).filter((name) => name !== 'compiled.json');
		assert.deepEqual(textOf(await compile()), textOf(first));
		writeFileSync(join(cache, kept, 'index.html'), 'kept');
		assert.equal((await compile()).html, 'kept');
		write(join(folder, 'main.ts'), "document.title = 'the second';");
		assert.deepEqual(textOf(await compile()), ['document.title="the second";']);
		assert.equal(readdirSync(cache).length, 2, 'the one before is removed');
		const later = Date.now() / 1000 + 3600;
		utimesSync(join(folder, 'main.ts'), later, later);
		const before = readdirSync(cache);
		await compile();
		assert.deepEqual(readdirSync(cache), before, 'what was changed while it was compiled is not kept');
		utimesSync(join(folder, 'main.ts'), 1, 1);
		rmSync(join(cache, readdirSync(cache).find((name) => name !== 'compiled.json') ?? ''), { recursive: true });
		assert.deepEqual(textOf(await compile()), ['document.title="the second";'], 'what was removed is compiled again');
	});

	test('that does not compile says where', async () => {
		await assert.rejects(bundled({ 'index.html': '<script src="main.ts">', 'main.ts': 'const = 1' }), /main\.ts:1:6/);
	});
});
