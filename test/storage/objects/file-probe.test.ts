import assert from 'node:assert/strict';
import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { FileProbe } from '#storage/objects/file-probe.ts';
import { openFile } from '#storage/objects/file-system.ts';

function rig(context: TestContext) {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-probe-'));
	context.after(() => rmSync(folder, { recursive: true }));
	const opened: number[] = [];
	let trouble: Error | undefined;
	const probe = new FileProbe(
		() => join(folder, `${opened.length}.part`),
		async (path, flags) => {
			if (trouble) throw trouble;
			const fd = await openFile(path, flags, 0o640);
			opened.push(fd);
			return fd;
		},
	);
	const refuse = (error?: Error) => {
		trouble = error;
	};
	return { folder, opened, probe, refuse };
}

describe('a probe of a folder', () => {
	test('needs room with each third probe, and leaves nothing that has a name', async (context) => {
		const { folder, opened, probe } = rig(context);
		for (let probes = 1; probes <= 7; probes++) {
			await probe.probe();
			assert.equal(opened.length, Math.ceil(probes / 3));
			assert.deepEqual(readdirSync(folder), []);
			assert.equal(fstatSync(opened.at(-1) ?? -1).size, 16 * 1024);
		}
		await probe.close();
		for (const fd of new Set(opened)) assert.throws(() => fstatSync(fd), { code: 'EBADF' });
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
		// The descriptor is one that cannot be written any more.
		const [first = -1] = opened;
		closeSync(first);
		assert.equal(openSync(folder, 'r'), first);
		await assert.rejects(probe.probe(), { code: 'EBADF' });
		await probe.probe();
		assert.equal(opened.length, 2);
		await probe.close();
	});
});
