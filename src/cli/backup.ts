import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { checkObjects } from '#administration/objects.ts';
import { chosenCut, cutsOf, noteVerified, verifiedAt } from '#backup/manifest.ts';
import { openPlace } from '#backup/open-place.ts';
import type { BackupPlace } from '#backup/place.ts';
import { Progress } from '#backup/progress.ts';
import { identityFiles, restore } from '#backup/restore.ts';
import { backUp } from '#backup/run.ts';
import { verifyCut } from '#backup/verify.ts';
import { newId } from '#core/id.ts';
import { keepDataFolder } from '#storage/data-folder.ts';
import { type Database, WorkerDatabase } from '#storage/database.ts';
import { migrate, unknownMigrations } from '#storage/migrate.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { withDatabase } from '#storage/open.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { noteBackup } from '#storage/statements/administrative/note-backup.ts';
import type { Config } from '../config.ts';
import { type BuiltIn, type Given, option } from './built-in.ts';
import { type CliHooks, type CliStreams, UsageError } from './command.ts';
import { configuration } from './configuration.ts';
import { openDatabase, printed } from './opened.ts';

const place = '<folder|s3://bucket/prefix>';
export const from = option('from', 'where the backups are', { value: place, isRequired: true });
const at = option('at', 'the newest one that is not younger than this time, such as 2026-11-23T02:00:00Z', { value: '<time>' });
const objectsOnly = option('objects-only', 'the objects alone; the database is kept in another way');

const backup: BuiltIn = {
	name: 'backup',
	summary: 'copies database, objects and configuration as they are at one moment, while the service works',
	options: [
		option('to', 'where backups are kept; objects that are there already are not copied again', { value: place, isRequired: true }),
		objectsOnly,
		option('without-keys', 'leaves out second-factor.key, which decrypts the secrets of second factors'),
	],
	run: async (given, streams, hooks) => {
		const config = hooks.readConfig();
		const progress = progressOn(streams);
		const store = configuredObjectStore(config);
		const report = await atPlace('to', given, config, (to) =>
			withDatabase(
				config,
				async (databaseUrl) => {
					const database = openDatabase(databaseUrl, config);
					try {
						const made = await backUp({
							...{ place: to, store, progress, version: hooks.version, kind: kindOf(given) },
							connect: () => database.bulk('backup'),
							files: filesOf(config, given),
						});
						const { cut, cut_at, kind, rows, object_files, object_bytes } = made;
						await note(database, 'backup.finish', cut, { cut_at, kind, rows, object_files, object_bytes });
						return made;
					} finally {
						await database.close();
					}
				},
				{ create: false },
			),
		);
		if (report.objects_missing > 0)
			streams.stderr.write(
				`tributary: ${report.objects_missing} objects that rows name are not in the store; see tributary doctor --objects\n`,
			);
		printed(report, given, streams);
		return 0;
	},
};

const list: BuiltIn = {
	name: 'backup list',
	summary: 'lists the backups of a place, and those that were cut off',
	options: [from],
	run: async (given, streams, hooks) => {
		const cuts = await atPlace('from', given, hooks.readConfig(), async (there) =>
			Promise.all((await cutsOf(there)).map(async (each) => ({ ...each, verified: await verifiedAt(there, each.cut) }))),
		);
		const rows = cuts.map(({ cut, manifest, fault, verified }) => ({
			cut,
			state: manifest === undefined ? (fault === undefined ? 'unfinished' : 'damaged') : 'finished',
			cut_at: manifest?.cut_at ?? null,
			kind: manifest?.kind ?? null,
			version: manifest?.version ?? null,
			rows: manifest?.database?.tables.reduce((sum, table) => sum + table.rows, 0) ?? null,
			objects: manifest?.objects.named ?? null,
			object_bytes: manifest?.objects.bytes ?? null,
			verified_at: verified ?? null,
		}));
		printed(rows, given, streams);
		return 0;
	},
};

const verify: BuiltIn = {
	name: 'backup verify',
	summary: 'reads every file of a backup and compares it with its SHA-256; ends with 1 if one differs',
	options: [from, at, objectsOnly],
	run: async (given, streams, hooks) => {
		const time = timeOf(given);
		const report = await atPlace('from', given, hooks.readConfig(), async (there) => {
			const found = await verifyCut(there, await chosenCut(there, kindOf(given), time), progressOn(streams));
			await noteVerified(there, found.cut, found.damaged === 0).catch((error: unknown) => {
				const why = error instanceof Error ? error.message : String(error);
				streams.stderr.write(`tributary: that it was verified could not be noted in the place, for backup prune: ${why}\n`);
			});
			return found;
		});
		printed(report, given, streams);
		return report.damaged === 0 ? 0 : 1;
	},
};

const restoring: BuiltIn = {
	name: 'restore',
	summary: 'makes database and object store anew from a backup, while no service runs; ends with 1 if an object is missing',
	options: [
		...[from, at, objectsOnly],
		option('overwrite', 'restores into a database that is not empty: everything in it is lost'),
		option('without-verify', 'does not read the backup before it writes; each file is checked as it is written'),
	],
	run: async (given, streams, hooks) => {
		const config = hooks.readConfig();
		const time = timeOf(given);
		if (readRuntimeFile(config.DATA_DIR) !== undefined) throw new Error(`a service runs on ${config.DATA_DIR}: stop it first`);
		keepDataFolder(config.DATA_DIR);
		const result = await atPlace('from', given, config, (there) => restored({ config, given, time, streams, hooks }, there));
		printed(result, given, streams);
		return result.check.rows_without_objects === 0 ? 0 : 1;
	},
};

interface Asked {
	config: Config;
	given: Given;
	time: Date | undefined;
	streams: CliStreams;
	hooks: CliHooks;
}

async function restored({ config, given, time, streams }: Asked, there: BackupPlace) {
	const kind = kindOf(given);
	const store = configuredObjectStore(config);
	const work = async (databaseUrl: string) => {
		const loading = new WorkerDatabase(databaseUrl, config.limits);
		const report = await restore({
			...{ place: there, kind, at: time, store, unknownMigrations, dataDir: config.DATA_DIR, progress: progressOn(streams) },
			...{ overwrite: given.has('overwrite'), verify: !given.has('without-verify') },
			connect: () => loading.bulk('restore'),
			migrate: async (only) => {
				await migrate(databaseUrl, only === undefined ? {} : { only });
			},
		}).finally(() => loading.close());
		const database = openDatabase(databaseUrl, config);
		try {
			const { cut, cut_at, rows, object_files } = report;
			await note(database, 'backup.restore', cut, { cut_at, kind, rows, object_files });
			const check = await checkObjects(database.people, store, Date.now(), { remove: false, repair: false });
			return { ...report, check };
		} finally {
			await database.close();
		}
	};
	return withDatabase(config, work, { create: kind === 'full' });
}

const kindOf = (given: Given) => (given.has('objects-only') ? 'objects' : 'full');

/** Opens the place of a required option for some work. */
export async function atPlace<T>(name: 'to' | 'from', given: Given, config: Config, work: (there: BackupPlace) => Promise<T>): Promise<T> {
	const there = openPlace(given.text(name) ?? '', config);
	try {
		return await work(there);
	} finally {
		await there.close();
	}
}

/** @throws UsageError */
function timeOf(given: Given): Date | undefined {
	const text = given.text('at');
	if (text === undefined) return undefined;
	// A time without an offset would mean another moment on each machine.
	const isWhole = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text);
	const time = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T23:59:59.999Z` : text);
	if (!isWhole || Number.isNaN(time.getTime()))
		throw new UsageError('--at is a time with its offset, such as 2026-11-23T02:00:00Z, or a day in UTC');
	return time;
}

export function progressOn({ stderr }: CliStreams): Progress {
	return new Progress((line) => stderr.write(`${line}\n`));
}

/** Returns the files that belong to a node besides database and objects. Values of secret variables are not in them. */
function filesOf(config: Config, given: Given): Record<string, string> {
	const variables = Object.fromEntries(configuration(config).map(({ variable, value }) => [variable, value]));
	const files: Record<string, string> = { 'configuration.json': `${JSON.stringify(variables, null, '\t')}\n` };
	for (const name of given.has('without-keys') ? [] : identityFiles) {
		const path = join(config.DATA_DIR, name);
		if (existsSync(path)) files[name] = readFileSync(path, 'utf8');
	}
	return files;
}

export async function note(database: Database, action: string, cut: string, detail: Record<string, string | number>): Promise<void> {
	await database.people.rows(noteBackup, [newId(), action, cut, `cli:${userInfo().username}`, detail]);
}

export const backupCommands: readonly BuiltIn[] = [backup, list, verify, restoring];
