import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Ingest } from '#ingest/worker.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { defaultLimits } from '../../src/limits.ts';

describe('the ingest of a thread that shares its object store', () => {
	test('leaves it open when it closes: its owner closes it, and does not wait for a disk that hangs', async (t) => {
		const folder = mkdtempSync(join(tmpdir(), 'tributary-ingest-'));
		t.after(() => rmSync(folder, { recursive: true, force: true }));
		const store = new FileStore(folder);
		const closed = t.mock.method(store, 'close', async () => undefined);
		const settings = {
			databaseUrl: 'postgresql://127.0.0.1:1/none',
			limits: defaultLimits,
			logLevel: 'silent',
			objectsFolder: folder,
			writer: '',
		};
		await new Ingest(settings, store).close();
		assert.equal(closed.mock.callCount(), 0);
	});
});

describe('a batch of nothing', () => {
	let database: TestDatabase;

	before(async () => {
		database = await testDatabase();
	});

	after(() => database[Symbol.asyncDispose]());

	const settings = { limits: defaultLimits, logLevel: 'silent', objectsFolder: undefined, writer: '' };

	test('is carried out only where the database takes batches, so a lane learns when that is', async (t) => {
		const away = new Ingest({ ...settings, databaseUrl: 'postgresql://127.0.0.1:1/none' });
		const there = new Ingest({ ...settings, databaseUrl: database.url });
		t.after(() => Promise.all([away.close(), there.close()]));
		assert.equal(await away.process(0, []), undefined);
		assert.deepEqual((await there.process(0, []))?.replies, []);
	});
});
