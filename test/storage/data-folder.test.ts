import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { keepDataFolder } from '#storage/data-folder.ts';
import { databaseOf } from '#storage/open.ts';
import { readRuntimeFile, writeRuntimeFile } from '#storage/runtime-file.ts';

function folder(t: TestContext): string {
	const path = mkdtempSync(join(tmpdir(), 'tributary-folder-'));
	t.after(() => rmSync(path, { recursive: true, force: true }));
	return path;
}

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

describe('the data directory', () => {
	test('is made for its owner and its group alone', (t) => {
		const path = join(folder(t), 'deep', 'var');
		assert.equal(keepDataFolder(path), undefined);
		assert.equal(modeOf(path), '750');
	});

	test('is none that all users share, and that stays as it was', (t) => {
		const path = folder(t);
		chmodSync(path, 0o1777);
		assert.throws(() => keepDataFolder(path), /^UnusableSetting: DATA_DIR is .* a folder that all users share/);
		assert.equal(modeOf(path), '1777');
	});

	test('is named where it cannot be made', (t) => {
		const path = join(folder(t), 'file');
		writeFileSync(path, '');
		for (const unusable of [path, join(path, 'var')])
			assert.throws(() => keepDataFolder(unusable), /^UnusableSetting: DATA_DIR is .* which cannot be used: E(?:EXIST|NOTDIR)/);
	});

	for (const [before, after] of [
		['755', '750'],
		['777', '750'],
		['770', '750'],
		['2775', '2750'],
		['700', '700'],
		['750', '750'],
	] as const) {
		test(`of an earlier release with the mode ${before} has ${after} from the next start on`, (t) => {
			const path = folder(t);
			chmodSync(path, Number.parseInt(before, 8));
			assert.equal(keepDataFolder(path), undefined);
			assert.equal(modeOf(path), after);
		});
	}
});

describe('the note of a running service', () => {
	const runtime = { pid: process.pid, version: '1', httpServer: '', surfaces: {} };

	for (const [url, noted] of [
		[
			'postgres://tributary:s3cret@db.example.org:5432/tributary?sslmode=require',
			'postgres://tributary@db.example.org:5432/tributary?sslmode=require',
		],
		['postgres://tributary@db.example.org/tributary?password=s3cret', 'postgres://tributary@db.example.org/tributary'],
	] as const) {
		test(`has no password of the database: ${noted}`, (t) => {
			const path = folder(t);
			writeRuntimeFile(path, { ...runtime, databaseUrl: url });
			assert.ok(!readFileSync(join(path, 'service.json'), 'utf8').includes('s3cret'));
			assert.equal(readRuntimeFile(path)?.databaseUrl, noted);
			assert.throws(() => databaseOf(readRuntimeFile(path)), /has a password: set DATABASE_URL for this command/);
		});
	}

	test('leads commands to a database without one', (t) => {
		const path = folder(t);
		const databaseUrl = 'postgres://tributary@localhost/tributary?host=%2Ftmp%2Fsocket';
		writeRuntimeFile(path, { ...runtime, databaseUrl });
		assert.equal(databaseOf(readRuntimeFile(path)), databaseUrl);
	});
});
