import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { FolderPlace } from '#backup/folder-place.ts';
import { type KeepRules, keptCuts } from '#backup/keep.ts';
import { cutsOf, type Manifest, noteBegun, noteVerified, unfinishedCuts, writeManifest } from '#backup/manifest.ts';
import { NamedPaths } from '#backup/named-paths.ts';
import { type BackupPlace, contentOf, type StoredFile } from '#backup/place.ts';
import { Progress } from '#backup/progress.ts';
import { prune } from '#backup/prune.ts';
import { pruningEnded } from '#backup/pruning.ts';
import { verifyCut } from '#backup/verify.ts';
import { newOwner } from '#storage/objects/owner.ts';

const folder = mkdtempSync(join(tmpdir(), 'tributary-prune-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const quiet = () => new Progress(() => undefined);
const none: KeepRules = { last: 0, daily: 0, weekly: 0, monthly: 0 };
/** A process that is alive and not this one. */
const stranger = () => newOwner(process.ppid);

function manifestOf(cut: string, at: string, list: StoredFile, kind: Manifest['kind'] = 'full'): Manifest {
	return {
		...{ format: 1, cut, kind, version: '9.9.9', began_at: at, cut_at: at, finished_at: at, database: null, files: [] },
		objects: { list, removed: null, named: 0, files: 0, bytes: 0, missing: 0, examples: [] },
	};
}

/** A backup of some shared objects, and of one file of its own. */
async function made(place: BackupPlace, cut: string, at: string, objects: readonly string[]): Promise<void> {
	await (await noteBegun(place, cut, newOwner()))();
	const lines: string[] = [];
	for (const name of objects) {
		const path = `objects/files/${name}`;
		const stored = (await place.find(path)) ?? (await place.put(path, contentOf(`content of ${name}`)));
		lines.push(JSON.stringify({ ...stored, at: name }));
	}
	const own = await place.put(`cuts/${cut}/segments/grows.segment`, contentOf(cut));
	lines.push(JSON.stringify({ ...own, at: 'segments/grows.segment' }));
	async function* listed() {
		yield gzipSync(lines.map((line) => `${line}\n`).join(''));
	}
	await writeManifest(place, manifestOf(cut, at, await place.put(`cuts/${cut}/objects.gz`, listed())));
}

/** Three backups; `a` is named by the first alone, `b` by the first two, `d` by none. */
async function threeBackups(name: string): Promise<{ root: string; place: FolderPlace }> {
	const root = join(folder, name);
	const place = new FolderPlace(root);
	await made(place, 'one', '2026-11-01T02:00:00.000Z', ['a', 'b']);
	await made(place, 'two', '2026-11-02T02:00:00.000Z', ['b', 'c']);
	await made(place, 'three', '2026-11-03T02:00:00.000Z', ['c']);
	await place.put('objects/files/d', contentOf('of a backup that was cut off'));
	return { root, place };
}

const filesIn = (root: string) =>
	readdirSync(root, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
		.sort();

async function pruned(place: BackupPlace, rules: Partial<KeepRules>, remove = true) {
	const audited: string[] = [];
	const removing = async ({ cut }: Manifest) => void audited.push(cut);
	const report = await prune({ place, rules: { ...none, ...rules }, remove, removing, progress: quiet() });
	return { report, audited };
}

async function unharmed(place: BackupPlace): Promise<string[]> {
	const cuts = await cutsOf(place);
	for (const { manifest, fault } of cuts) {
		assert.equal(fault, undefined);
		if (manifest) assert.deepEqual((await verifyCut(place, manifest, quiet())).examples, []);
	}
	return cuts.filter(({ manifest }) => manifest).map(({ cut }) => cut);
}

describe('the backups that stay', () => {
	const list = { path: 'x', bytes: 1, sha256: '' };
	const at = (cut: string, time: string, kind?: Manifest['kind']) => manifestOf(cut, time, list, kind);
	const manifests = [
		at('jan', '2026-01-31T02:00:00Z'),
		at('feb', '2026-02-28T02:00:00Z'),
		at('sunday', '2026-03-01T23:59:59Z'),
		at('monday', '2026-03-02T00:00:00Z'),
		at('evening', '2026-03-02T20:00:00Z'),
		at('latest', '2026-03-04T02:00:00Z'),
		at('objects', '2026-03-01T02:00:00Z', 'objects'),
	];

	test('are the newest, by number, day, week from Monday, and month, each kind by itself', () => {
		const kept = (rules: Partial<KeepRules>) => Object.fromEntries(keptCuts(manifests, new Set(), { ...none, ...rules }));
		const always = { latest: ['newest'], objects: ['newest'] };
		assert.deepEqual(kept({}), always);
		assert.deepEqual(kept({ last: 2 }), { latest: ['newest', 'last'], evening: ['last'], objects: ['newest', 'last'] });
		assert.deepEqual(kept({ daily: 3 }), {
			...{ latest: ['newest', 'daily'], evening: ['daily'], sunday: ['daily'] },
			objects: ['newest', 'daily'],
		});
		assert.deepEqual(kept({ weekly: 2 }), { latest: ['newest', 'weekly'], sunday: ['weekly'], objects: ['newest', 'weekly'] });
		assert.deepEqual(kept({ monthly: 3 }), {
			...{ latest: ['newest', 'monthly'], feb: ['monthly'], jan: ['monthly'] },
			objects: ['newest', 'monthly'],
		});
	});

	test('have the newest that was verified among them', () => {
		const kept = keptCuts(manifests, new Set(['jan', 'feb']), { ...none, last: 1 });
		assert.deepEqual(kept.get('feb'), ['verified']);
		assert.equal(kept.has('jan'), false);
	});
});

test('a set of paths has what was added, over several times of sorting', () => {
	const named = new NamedPaths();
	for (let round = 0; round < 3; round++) {
		for (let number = 0; number < 1500; number++) named.add(`objects/files/${number + round * 1000}`);
		named.sort();
	}
	assert.ok(named.has('objects/files/0') && named.has('objects/files/3499') && !named.has('objects/files/3500'));
});

describe('backup prune', () => {
	test('only says what would go, unless it is told to remove', async () => {
		const { root, place } = await threeBackups('preview');
		const before = filesIn(root);
		const { report, audited } = await pruned(place, { last: 1 }, false);
		assert.deepEqual([report.removed, report.cuts_kept, report.cuts_removed, report.object_files_removed], [false, 1, 2, 3]);
		assert.deepEqual(
			report.cuts.map(({ cut, kept_as: keptAs }) => [cut, keptAs]),
			[
				['one', []],
				['three', ['newest', 'last']],
				['two', []],
			],
		);
		assert.ok(report.object_bytes_removed > 0 && report.object_files_kept === 1);
		assert.deepEqual([filesIn(root), audited], [before, []]);
	});

	test('removes whole backups and the objects that no other one names, and leaves the newest verified one', async () => {
		const { root, place } = await threeBackups('whole');
		await noteVerified(place, 'two', true);
		const { report, audited } = await pruned(place, { last: 1 });
		assert.deepEqual([report.removed, report.object_files_removed, audited], [true, 2, ['one']]);
		assert.deepEqual(await unharmed(place), ['three', 'two']);
		assert.deepEqual(
			filesIn(root).filter((path) => path.startsWith('objects/') && !path.endsWith('.sha256')),
			['objects/files/b', 'objects/files/c'],
		);
		// One that proves to be damaged later counts as verified no more.
		await noteVerified(place, 'two', false);
		assert.deepEqual((await pruned(place, { last: 1 })).audited, ['two']);
	});

	test('that is cut off at any step leaves whole backups, and the next one removes the rest', async () => {
		const expected = await threeBackups('expected');
		await pruned(expected.place, { last: 1 });
		const end = filesIn(expected.root).filter((path) => !path.endsWith('.sha256'));
		for (let steps = 0; ; steps++) {
			const { root, place } = await threeBackups(`after-${steps}`);
			let left = steps;
			const dying: BackupPlace = Object.create(place, {
				remove: {
					value: async (path: string) => {
						if (left-- <= 0) throw new Error('killed');
						// A folder has lost the digest and not yet the file.
						if (left === 0 && steps % 2 === 1) rmSync(join(root, `${path}.sha256`), { force: true });
						else await place.remove(path);
					},
				},
				...Object.fromEntries(
					(['find', 'put', 'read', 'folders', 'files'] as const).map((name) => [name, { value: place[name].bind(place) }]),
				),
			});
			const isEnded = await pruned(dying, { last: 1 }).then(
				() => true,
				() => false,
			);
			await unharmed(place);
			await pruned(place, { last: 1 });
			assert.deepEqual(await unharmed(place), ['three']);
			assert.deepEqual(
				filesIn(root).filter((path) => !path.endsWith('.sha256')),
				end,
				`after ${steps} removals`,
			);
			if (isEnded) break;
			assert.ok(steps < 100);
		}
	});

	test('removes nothing while a backup may be at work, and a backup waits for it', async (t: TestContext) => {
		const { root, place } = await threeBackups('at-work');
		const before = filesIn(root);
		const leave = await noteBegun(place, 'running', stranger());
		t.after(leave);
		await assert.rejects(pruned(place, { last: 1 }), /a backup is being made in this place \(running\): try again when it has ended/);
		assert.deepEqual(
			filesIn(root).filter((path) => !path.startsWith('cuts/running/')),
			before,
		);
		await place.remove('cuts/running/begun.json');

		const owner = stranger();
		const note = `pruning/${owner}.json`;
		await place.put(note, contentOf(JSON.stringify({ owner, told_at: new Date().toISOString() })));
		await assert.rejects(pruned(place, { last: 1 }), /are being removed by another process: try again later/);
		const said: string[] = [];
		const waiting = pruningEnded(place, new Progress((line) => void said.push(line)));
		await t.waitFor(() => assert.ok(said.length > 0));
		await place.remove(note);
		await waiting;
		assert.deepEqual(said, ['waiting until the removal of older backups has ended']);
		// A note of a process that has ended, such as a killed one, keeps nobody.
		await place.put(note, contentOf(JSON.stringify({ owner: newOwner(), told_at: new Date().toISOString() })));
		await pruned(place, { last: 1 });
		assert.equal(await place.find(note), undefined);
	});

	test('removes nothing while it is not known what a backup names', async () => {
		const { root, place } = await threeBackups('damaged');
		writeFileSync(join(root, 'cuts/two/manifest.json'), '{}');
		await assert.rejects(pruned(place, { last: 1 }), /nothing is removed.*cuts\/two\/manifest\.json does not have the SHA-256/);
		const other = await threeBackups('list');
		writeFileSync(join(other.root, 'cuts/three/objects.gz'), 'x');
		const before = filesIn(other.root);
		await assert.rejects(pruned(other.place, { last: 1 }), /the backup is damaged: cuts\/three\/objects\.gz/);
		assert.deepEqual(filesIn(other.root), before);
	});

	test('removes what backups left that were cut off, those of earlier releases too', async () => {
		const { place } = await threeBackups('unfinished');
		await (await noteBegun(place, 'cut-off', newOwner()))();
		await place.put('cuts/earlier/begun.json', contentOf(JSON.stringify({ owner: newOwner(), began_at: new Date().toISOString() })));
		assert.deepEqual((await unfinishedCuts(place)).left, ['cut-off', 'earlier']);
		assert.equal((await pruned(place, { last: 9 })).report.unfinished_removed, 2);
		assert.deepEqual(await place.folders('cuts'), ['one', 'three', 'two']);
	});
});
