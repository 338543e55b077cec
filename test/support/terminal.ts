import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runCli } from '#cli/run.ts';
import type { AnswerOf, Delivery, ReplyTo } from '#record/delivery.ts';
import { testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import { readConfig } from '../../src/config.ts';
import { remoteEcho, remoteSend } from '../../src/echo.ts';

interface Outcome {
	code: number;
	out: string;
	err: string;
}

export interface Terminal {
	dataDir: string;
	/** The width of the terminal; undefined: the output goes to a file. */
	columns: number | undefined;
	delivered: Delivery[];
	/** What the command that runs has printed so far, or the last one. */
	printed: string;
	run(...argv: string[]): Promise<Outcome>;
	/** Runs with --json, expects success, answers what was printed. */
	json(...argv: string[]): Promise<ReturnType<typeof JSON.parse>>;
	rows(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

/** The command line on a database of the test's own, with its output captured. */
export async function terminal(t: TestContext, environment: Record<string, string> = {}): Promise<Terminal> {
	const database = await testDatabase();
	const door = doorTo(database.url);
	const dataDir = mkdtempSync(join(tmpdir(), 'tributary-cli-'));
	t.after(async () => {
		await door.close();
		rmSync(dataDir, { recursive: true, force: true });
		await database[Symbol.asyncDispose]();
	});
	const delivered: Delivery[] = [];
	const processDelivery = async <Sent extends Delivery>(_databaseUrl: string, delivery: Sent): Promise<ReplyTo<Sent>> => {
		delivered.push(delivery);
		const answer = { acknowledgements: [] } as AnswerOf<'hl7v2'> as AnswerOf<Sent['kind']>;
		return { id: delivery.id, outcome: 'accepted', messageType: 'ADT^A08', controlId: 'M1', answer, flags: [] };
	};
	const run = async (...argv: string[]): Promise<Outcome> => {
		let out = '';
		let err = '';
		shell.printed = '';
		const print = (text: string) => {
			out += text;
			shell.printed = out;
		};
		const streams = {
			stdout: { write: print, columns: shell.columns },
			stderr: { write: (text: string) => (err += text) },
		};
		const hooks = {
			start: () => Promise.resolve(0),
			processDelivery,
			openIngest: () => Promise.reject(new Error('the test imports nothing')),
			remoteEcho,
			remoteSend,
			readConfig: () => readConfig({ DATABASE_URL: database.url, DATA_DIR: dataDir, ...environment }),
			environment: { DATA_DIR: dataDir, ...environment },
			version: '9.9.9',
		};
		return { code: await runCli(argv, streams, hooks), out, err };
	};
	const shell: Terminal = {
		dataDir,
		columns: undefined,
		delivered,
		printed: '',
		run,
		json: async (...argv) => {
			const { code, out, err } = await run(...argv, '--json');
			assert.deepEqual([code, err], [0, ''], argv.join(' '));
			return JSON.parse(out);
		},
		rows: (text, values = []) => door.people.rows({ text }, values),
	};
	return shell;
}

export async function withWest(t: TestContext, environment: Record<string, string> = {}): Promise<Terminal> {
	const shell = await terminal(t, environment);
	await shell.json('site', 'add', 'west', '--name', 'West', '--ae-title', 'WEST');
	await shell.json('user', 'add', 'owner@example.org', '--site', 'west');
	return shell;
}
