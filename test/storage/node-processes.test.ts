import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { silentLog } from '#core/log.ts';
import { confirmedByNode, type NodeProcess, openNodeProcess } from '#storage/node-processes.ts';
import { socketFolder } from '#storage/socket-folder.ts';

const waitMs = 5000;

function folder(t: TestContext, below = ''): string {
	const made = mkdtempSync(join(tmpdir(), 'tributary-node-'));
	t.after(() => rmSync(made, { recursive: true, force: true }));
	const dataDir = join(made, below);
	mkdirSync(dataDir, { recursive: true });
	return dataDir;
}

/** A process that refreshes at once unless told otherwise, and how often it has. */
async function open(t: TestContext, dataDir: string, refresh?: () => Promise<void>, waitMsMax = waitMs) {
	const state = { refreshed: 0 };
	const opened: NodeProcess = await openNodeProcess({
		dataDir,
		refresh: () => {
			state.refreshed++;
			return refresh?.() ?? Promise.resolve();
		},
		waitMsMax,
		log: silentLog,
	});
	let closed: Promise<void> | undefined;
	const close = () => {
		closed ??= opened.close();
		return closed;
	};
	t.after(close);
	return { state, close, confirmed: () => opened.confirmed() };
}

/** The socket of a process that was killed. */
function killedProcess(dataDir: string): string {
	const path = join(socketFolder(dataDir, 'processes'), '999999-dead');
	const script = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
	spawnSync(process.execPath, ['-e', script, path]);
	assert.ok(existsSync(path));
	return path;
}

describe('the processes of a node', () => {
	test('confirm a change, each after it has read the database anew', async (t) => {
		const dataDir = folder(t);
		const processes = [await open(t, dataDir), await open(t, dataDir)];
		const before = processes.map(({ state }) => state.refreshed);
		assert.deepEqual(await confirmedByNode(dataDir, waitMs), []);
		assert.deepEqual(
			processes.map(({ state }) => state.refreshed),
			before.map((count) => count + 1),
		);
	});

	test('confirm one that one of them has made, each once', async (t) => {
		const dataDir = folder(t);
		const processes = [await open(t, dataDir), await open(t, dataDir)];
		const before = processes.map(({ state }) => state.refreshed);
		assert.deepEqual(await processes[0]?.confirmed(), []);
		assert.deepEqual(
			processes.map(({ state }) => state.refreshed),
			before.map((count) => count + 1),
		);
	});

	test('are not waited for where there is none, nor where all have ended', async (t) => {
		const dataDir = folder(t);
		assert.deepEqual(await confirmedByNode(dataDir, waitMs), []);
		const { close } = await open(t, dataDir);
		await close();
		assert.deepEqual(await confirmedByNode(dataDir, waitMs), []);
		assert.deepEqual(readdirSync(socketFolder(dataDir, 'processes')), []);
	});

	test('are not waited for when they were killed, and the next one clears up after them', async (t) => {
		const dataDir = folder(t);
		await (await open(t, dataDir)).close();
		const dead = killedProcess(dataDir);
		assert.deepEqual(await confirmedByNode(dataDir, waitMs), []);
		const { confirmed } = await open(t, dataDir);
		assert.ok(existsSync(dead), 'what is young may be about to listen');
		assert.deepEqual(await confirmed(), []);
		const old = new Date(Date.now() - 3_600_000);
		utimesSync(dead, old, old);
		await open(t, dataDir);
		assert.equal(existsSync(dead), false);
	});

	test('are named when they do not confirm in time, or cannot', async (t) => {
		const dataDir = folder(t);
		const never = () => new Promise<void>(() => undefined);
		let refresh: () => Promise<void> = () => Promise.resolve();
		const { confirmed } = await open(t, dataDir, () => refresh(), 50);
		for (const fault of [never, () => Promise.reject(new Error('the database is away'))]) {
			refresh = fault;
			assert.deepEqual(await confirmedByNode(dataDir, 50), [`process ${process.pid}`]);
			assert.deepEqual(await confirmed(), [`process ${process.pid}`]);
		}
	});

	test('find one another below a folder whose name is too long for a socket', async (t) => {
		const dataDir = folder(t, 'd'.repeat(120));
		const far = socketFolder(dataDir, 'processes');
		assert.ok(!far.startsWith(dataDir));
		t.after(() => rmSync(far, { recursive: true, force: true }));
		const { state } = await open(t, dataDir);
		const before = state.refreshed;
		assert.deepEqual(await confirmedByNode(dataDir, waitMs), []);
		assert.equal(state.refreshed, before + 1);
	});

	test('go on where no socket can be made', async (t) => {
		const dataDir = folder(t);
		// A link is not followed: somebody else may have made it.
		const elsewhere = folder(t);
		spawnSync('ln', ['-s', elsewhere, join(dataDir, 'processes')]);
		const { confirmed } = await open(t, dataDir);
		assert.deepEqual(await confirmed(), []);
		assert.deepEqual(readdirSync(elsewhere), []);
	});
});
