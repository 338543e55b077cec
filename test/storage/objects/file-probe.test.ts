import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { FileProbe } from '#storage/objects/file-probe.ts';

function rig(context: TestContext) {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-probe-'));
	context.after(() => rmSync(folder, { recursive: true }));
	const opened: FileHandle[] = [];
	let trouble: Error | undefined;
	const probe = new FileProbe(async (open) => {
		if (trouble) throw trouble;
		const path = join(folder, `${opened.length}.part`);
		const file = await open(path);
		opened.push(file);
		return { path, file };
	});
	const refuse = (error?: Error) => {
		trouble = error;
	};
	return { folder, opened, probe, refuse };
}

describe('a probe of a folder', () => {
	test('makes a file with each third probe, which has no name and keeps one page', async (context) => {
		const { folder, opened, probe } = rig(context);
		for (let probes = 1; probes <= 7; probes++) {
			await probe.probe();
			assert.equal(opened.length, Math.ceil(probes / 3));
			assert.deepEqual(readdirSync(folder), []);
			assert.equal((await opened.at(-1)?.stat())?.size, 4096);
		}
		await probe.close();
		assert.deepEqual(
			opened.map(({ fd }) => fd),
			[-1, -1, -1],
		);
	});

	test('fails where no file can be made, until one can', async (context) => {
		const { opened, probe, refuse } = rig(context);
		refuse(new Error('no room'));
		for (let probes = 0; probes < 4; probes++) await assert.rejects(probe.probe(), /no room/);
		refuse();
		await probe.probe();
		assert.equal(opened.length, 1);
		await probe.close();
	});

	test('begins with a new file after a write that failed', async (context) => {
		const { folder, opened, probe } = rig(context);
		await probe.probe();
		await opened[0]?.close();
		await assert.rejects(probe.probe(), { code: 'EBADF' });
		await probe.probe();
		assert.deepEqual([opened.length, readdirSync(folder)], [2, []]);
		await probe.close();
	});

	test('that is closed meanwhile comes to its end first', async (context) => {
		const { opened, probe } = rig(context);
		await probe.probe();
		const written = probe.probe();
		await Promise.all([probe.close(), written]);
		assert.equal(opened[0]?.fd, -1);
	});
});
