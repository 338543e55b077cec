import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BulkConnection } from '#storage/bulk-connection.ts';
import { clearSchema, hasTables, isUsed, load, otherNodes } from '#storage/cut/load.ts';
import type { FileStore } from '#storage/objects/file-store.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { chosenCut, cutsOf, listedFiles, type Manifest, type ManifestDatabase, uncompressed } from './manifest.ts';
import { type BackupPlace, checkedContent, checkedPath, textOf } from './place.ts';
import type { Progress } from './progress.ts';
import { objectsOfAll, type RestoredObjects, restoreObjects, restoreRemovals } from './restored-objects.ts';
import { verifyCut } from './verify.ts';

export interface RestoreOptions {
	place: BackupPlace;
	kind: Manifest['kind'];
	/** The newest cut that is not younger; undefined: the newest. */
	at: Date | undefined;
	/** Everything that the database and the store hold may be lost. */
	overwrite: boolean;
	/** Every file is read and checked before anything is written. */
	verify: boolean;
	connect(): Promise<BulkConnection>;
	/** Makes the schema that the migrations with these names make; all of this version without names. */
	migrate(only?: readonly string[]): Promise<void>;
	/** Returns those of the names that this version does not know. */
	unknownMigrations(names: readonly string[]): Promise<string[]>;
	store: FileStore | ObjectStore;
	dataDir: string;
	progress: Progress;
}

export interface RestoreReport {
	cut: string;
	cut_at: string;
	kind: Manifest['kind'];
	tables: number;
	rows: number;
	/** Tables of the backup that no migration makes: they were left out. */
	tables_left_out: string[];
	object_files: number;
	object_bytes: number;
	/** The part of `object_files` that the store had already. */
	object_files_present: number;
	seconds: number;
}

/** Says in DATA_DIR which cut is being restored, so that one that was cut off may be repeated. */
const markOf = (dataDir: string) => join(dataDir, 'restoring');

/**
 * Restores a cut. Nothing is written before everything is checked that may refuse it. Objects come first and the rows last, in one
 * transaction, so a database that has rows has their objects.
 * @throws Error with one sentence that says why it is refused
 */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
	const { place, kind, at, dataDir, store, progress } = options;
	const manifest = await chosenCut(place, kind, at);
	const database = manifest.database ?? undefined;
	const connection = database === undefined ? undefined : await options.connect();
	try {
		if (database !== undefined) await refuseNewer(options, manifest, database);
		await refuseUsed(options, manifest, connection);
		if (options.verify) await refuseDamaged(options, manifest);
		writeFileSync(markOf(dataDir), manifest.cut, { mode: 0o600 });
		const objects = await restoredObjects(options, manifest);
		if (database === undefined || connection === undefined) {
			rmSync(markOf(dataDir), { force: true });
			return reportOf(manifest, objects, [], progress.seconds);
		}
		await restoreRemovals(place, manifest, store);
		const leftOut = await restoredRows(options, database, connection);
		await restoreFiles(options, manifest);
		await options.migrate();
		rmSync(markOf(dataDir), { force: true });
		return reportOf(manifest, objects, leftOut, progress.seconds);
	} finally {
		await connection?.close();
	}
}

async function refuseNewer({ unknownMigrations }: RestoreOptions, { version }: Manifest, { migrations }: ManifestDatabase): Promise<void> {
	const unknown = await unknownMigrations(migrations);
	if (unknown.length > 0)
		throw new Error(`the backup was made by a newer version of Tributary (${version}; this one does not know ${unknown.join(', ')})`);
}

async function refuseUsed(options: RestoreOptions, manifest: Manifest, connection: BulkConnection | undefined): Promise<void> {
	const { dataDir, store, overwrite } = options;
	if (connection !== undefined) {
		const others = await otherNodes(connection);
		if (others > 0) throw new Error(`${others} connections of a running service use the database: stop every node first`);
	}
	if (overwrite || isRepeated(dataDir, manifest)) return;
	if (connection !== undefined && (await isUsed(connection)))
		throw new Error('the database is not empty: restore into another one, or say --overwrite, by which everything in it is lost');
	// The database of objects alone is there already, and names what the store may have.
	if (connection === undefined) return;
	for await (const _object of store.list())
		throw new Error(
			'the object store is not empty: restore into another one, or say --overwrite, by which its objects stay and no row names them',
		);
}

function isRepeated(dataDir: string, { cut }: Manifest): boolean {
	return existsSync(markOf(dataDir)) && readFileSync(markOf(dataDir), 'utf8') === cut;
}

async function refuseDamaged({ place, progress }: RestoreOptions, manifest: Manifest): Promise<void> {
	const { damaged, examples } = await verifyCut(place, manifest, progress);
	if (damaged > 0)
		throw new Error(`the backup is damaged, so nothing was restored: ${examples.join(', ')}${damaged > examples.length ? ' …' : ''}`);
}

async function restoredObjects({ place, kind, store, progress }: RestoreOptions, manifest: Manifest): Promise<RestoredObjects> {
	if (kind === 'full') return restoreObjects(place, listedFiles(place, manifest), store, progress);
	const finished = (await cutsOf(place)).flatMap(({ manifest: other }) => other ?? []);
	return restoreObjects(place, await objectsOfAll(place, finished), store, progress);
}

async function restoredRows(options: RestoreOptions, database: ManifestDatabase, connection: BulkConnection): Promise<string[]> {
	const { place, migrate, progress } = options;
	progress.step('database: making the tables');
	if (await hasTables(connection)) await clearSchema(connection);
	await migrate(database.migrations);
	progress.step(`database: writing the rows of ${database.tables.length} tables`);
	const files = new Map(database.tables.map(({ name, file }) => [name, file]));
	const counts = new Map(database.tables.map(({ name, rows }) => [name, rows]));
	let done = 0;
	const rows = ({ name }: { name: string }) => {
		const file = files.get(name);
		if (file === undefined) throw new Error(`the backup lacks the rows of ${name}`);
		return uncompressed(place, file);
	};
	const leftOut = await load({
		connection,
		schema: database,
		rows,
		loaded: ({ name }, loaded) => {
			if (loaded !== counts.get(name)) throw new Error(`the backup has ${counts.get(name)} rows of ${name}, and ${loaded} were read`);
			done += 1;
			progress.within(() => `database: ${done} of ${database.tables.length} tables`);
		},
	});
	progress.step(`database: ${done} tables`);
	return leftOut;
}

/** Files of DATA_DIR. One that is there is kept, unless everything may be lost. */
async function restoreFiles({ place, dataDir, overwrite }: RestoreOptions, manifest: Manifest): Promise<void> {
	for (const file of manifest.files) {
		const name = checkedPath(file.path).split('/').at(-1) ?? '';
		if (!identityFiles.includes(name)) continue;
		const path = join(dataDir, name);
		if (overwrite || !existsSync(path)) writeFileSync(path, await textOf(checkedContent(place, file)), { mode: 0o600, flush: true });
	}
}

/** These files of DATA_DIR belong to what the database holds. */
export const identityFiles: readonly string[] = ['second-factor.key'];

function reportOf(manifest: Manifest, objects: RestoredObjects, leftOut: string[], seconds: number): RestoreReport {
	const { cut, cut_at, kind, database } = manifest;
	const tables = (database?.tables ?? []).filter(({ name }) => !leftOut.includes(name));
	return {
		...{ cut, cut_at, kind, tables: tables.length },
		rows: tables.reduce((sum, { rows }) => sum + rows, 0),
		tables_left_out: leftOut,
		...{ object_files: objects.files, object_bytes: objects.bytes, object_files_present: objects.present, seconds },
	};
}
