import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { testDatabase } from '#test/support/database.ts';
import { Way } from '#test/support/standby.ts';
import { dataFolder, Installed, nobody, portsOfTests, strangeFolder, unpacked } from '#test/support/tarball.ts';
import { makePackage } from '../../ops/package/package.ts';

const run = promisify(execFile);

/** `npm run test:package`: makes the tarball, unpacks it, and starts what it holds. Too slow for `npm test`. */
describe('the tarball', { timeout: 600_000 }, () => {
	test('starts as nobody from a tree that cannot be written, without a home, and serves the console', async (t) => {
		const root = join(import.meta.dirname, '../..');
		const dist = mkdtempSync(join(tmpdir(), 'tributary-dist-'));
		const folder = strangeFolder();
		t.after(() => {
			rmSync(dist, { recursive: true });
			folder.remove();
		});
		const made = await makePackage(root, dist);
		assert.equal(readFileSync(`${made.archive}.sha256`, 'utf8'), `${made.sha256}  ${basename(made.archive)}\n`);
		assert.ok(made.packageBytes < made.productionBytes / 2, `${made.packageBytes} of ${made.productionBytes}`);
		const again = await makePackage(root, join(dist, 'again'));
		assert.equal(again.sha256, made.sha256, 'the same checkout makes the same bytes');
		const tree = unpacked(made.archive, folder.path);
		assert.ok(!existsSync(join(tree, 'node_modules/esbuild')));
		assert.deepEqual(readdirSync(join(tree, 'src/console')).sort(), ['built', 'index.html']);
		// Nobody can neither run a program below /root nor enter the folder of the database's socket.
		const node = join(folder.path, 'node');
		cpSync(process.execPath, node);
		await using database = await testDatabase();
		const url = new URL(database.url);
		const way = new Way(url.searchParams.get('host') ?? '');
		t.after(() => way.close());
		const databaseUrl = `postgresql://tributary@${await way.open()}${url.pathname}`;
		const dataDir = dataFolder(join(folder.path, 'data'));
		const env = { PATH: process.env['PATH'], TZ: 'Asia/Kolkata', NODE_ENV: 'production', DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
		await using service = new Installed(node, ['src/start.mjs', 'start'], {
			cwd: tree,
			env: { ...env, ...portsOfTests, PROCESSES: '1', WORKERS: '1' },
			...nobody,
		});
		await service.ready();
		const console = `http://127.0.0.1:${service.port('console and admin API')}`;
		const page = await (await fetch(console)).text();
		for (const [, path = ''] of page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g))
			assert.equal((await fetch(`${console}${path}`)).status, 200, path);
		const ready = await fetch(`http://127.0.0.1:${service.port('metrics and health')}/health/ready`);
		assert.equal(ready.status, 200);
		// Not synchronous: this process is the way to the database.
		const command = join(folder.path, 'tributary');
		symlinkSync(join(tree, 'bin/tributary'), command);
		const { stdout } = await run(command, ['site', 'add', 'north', '--name', 'North', '--json'], {
			cwd: '/',
			env: { ...env, PATH: `${folder.path}${delimiter}${env.PATH}` },
			...nobody,
		});
		assert.equal(JSON.parse(stdout).slug, 'north');
		const { name, version, devDependencies } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8'));
		assert.deepEqual([name, typeof version, devDependencies], ['tributary', 'string', undefined]);
		assert.equal(await service.end(), 0);
	});
});
