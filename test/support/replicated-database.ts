import { readFileSync } from 'node:fs';
import pg from 'pg';
import { dataDirectory } from '#storage/embedded/data-directory.ts';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import type { TestDatabase } from './database.ts';
import { pairFolders } from './standby.ts';
import { createTemplate, templateName, urlOf } from './template.ts';

/** A migrated database on a server of its own, and a standby that follows it. */
export interface ReplicatedDatabase {
	primary: TestDatabase;
	standbyUrl: string;
	/** Stops the standby from taking over what it receives, until `resume`. */
	pause(): Promise<void>;
	resume(): Promise<void>;
	stopStandby(): Promise<void>;
	startStandby(): Promise<void>;
	/** Holds up every process of the standby, so that it says nothing and its connections stay open. Returns what lets them go on. */
	freezeStandby(): () => void;
	/** Stops both and removes them. */
	[Symbol.asyncDispose](): Promise<void>;
}

/** A process of the server, such as that of a connection, may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
	try {
		process.kill(pid, name);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
	}
}

const settings = { fsync: 'off', shared_buffers: '64MB', max_connections: '200' };

export async function replicatedDatabase(): Promise<ReplicatedDatabase> {
	const folders = await pairFolders(settings, createTemplate);
	const { socket } = dataDirectory(folders.primary);
	const primary = await startEmbeddedDatabase({ dataDir: folders.primary, settings });
	const following = { ...settings, primary_conninfo: `host=${socket} user=tributary dbname=tributary`, hot_standby_feedback: 'on' };
	let standby: EmbeddedDatabase | undefined;
	const startStandby = async () => {
		standby = await startEmbeddedDatabase({ dataDir: folders.standby, settings: following });
	};
	await startStandby();
	const standbyUrl = urlOf(standby?.url ?? '', templateName);
	const tell = async (text: string) => {
		const client = new pg.Client({ connectionString: standbyUrl });
		await client.connect();
		await client.query(text);
		await client.end();
	};
	const stopStandby = async () => {
		await standby?.stop();
		standby = undefined;
	};
	return {
		primary: { url: urlOf(primary.url, templateName), [Symbol.asyncDispose]: async () => {} },
		standbyUrl,
		pause: () => tell('select pg_wal_replay_pause()'),
		resume: () => tell('select pg_wal_replay_resume()'),
		stopStandby,
		startStandby,
		freezeStandby: () => {
			const parent = standby?.pid ?? 0;
			const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8');
			const pids = [parent, ...children.trim().split(' ').map(Number)];
			for (const pid of pids) signal(pid, 'SIGSTOP');
			return () => {
				for (const pid of pids) signal(pid, 'SIGCONT');
			};
		},
		[Symbol.asyncDispose]: async () => {
			await stopStandby();
			await primary.stop();
			folders[Symbol.dispose]();
		},
	};
}
