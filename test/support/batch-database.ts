import { after, before } from 'node:test';
import type pg from 'pg';
import { BatchRunner } from './change-sets.ts';
import { type TestDatabase, testDatabase, testPool } from './database.ts';

/** The database of a suite, what processes its batches, and a connection that looks at what these wrote. */
export interface BatchDatabase {
	readonly runner: BatchRunner;
	readonly pool: pg.Pool;
}

/** Opens a database for the suite in which it is called, and closes it behind the last test. */
export function batchDatabase(): BatchDatabase {
	let database: TestDatabase | undefined;
	let runner: BatchRunner | undefined;
	let pool: pg.Pool | undefined;
	before(async () => {
		database = await testDatabase();
		runner = new BatchRunner(database.url);
		pool = testPool(database.url);
	});
	after(async () => {
		await runner?.[Symbol.asyncDispose]();
		await pool?.end();
		await database?.[Symbol.asyncDispose]();
	});
	const opened = <T>(part: T | undefined): T => {
		if (part === undefined) throw new Error('the database of the suite is not open yet');
		return part;
	};
	return {
		get runner() {
			return opened(runner);
		},
		get pool() {
			return opened(pool);
		},
	};
}
