import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { administer, createTemplate, templateName, urlOf } from './template.ts';

export interface TestDatabase {
	url: string;
	[Symbol.asyncDispose](): Promise<void>;
}

/** A migrated database of the test's own, dropped at its end. Outside the runner it brings its own server. */
export async function testDatabase(): Promise<TestDatabase> {
	return onServer(templateName);
}

/** A database without anything in it, for what migrates by itself. */
export async function emptyDatabase(): Promise<TestDatabase> {
	return onServer('template0');
}

async function onServer(template: string): Promise<TestDatabase> {
	const server = process.env['TRIBUTARY_TEST_DATABASE'];
	return server === undefined ? ownServer(template) : databaseOf(server, template, async () => {});
}

/**
 * Connections for looking at a database of a test. The end of a pool does not wait for that of its connections, so the server may end them itself when
 * the database is dropped, and says so to whoever listens. Without a listener that would end the process of the test.
 */
export function testPool(url: string, max = 1): pg.Pool {
	const pool = new pg.Pool({ connectionString: url, max });
	pool.on('error', () => undefined);
	pool.on('connect', (client) => client.on('error', () => undefined));
	return pool;
}

async function databaseOf(server: string, template: string, after: () => Promise<void>): Promise<TestDatabase> {
	const name = `test_${newId().replaceAll('-', '')}`;
	await administer(server, `create database ${name} template ${template} strategy file_copy`);
	return {
		url: urlOf(server, name),
		[Symbol.asyncDispose]: async () => {
			await administer(server, `drop database ${name} with (force)`);
			await after();
		},
	};
}

async function ownServer(template: string): Promise<TestDatabase> {
	const dataDir = mkdtempSync(join(tmpdir(), 'tributary-test-'));
	chmodSync(dataDir, 0o755);
	const server = await startEmbeddedDatabase({ dataDir, settings: { fsync: 'off', shared_buffers: '64MB' } });
	await createTemplate(server.url);
	return databaseOf(server.url, template, async () => {
		await server.stop();
		rmSync(dataDir, { recursive: true, force: true });
	});
}
