import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { newId } from '#core/id.ts';
import type { BulkConnection } from '#storage/bulk-connection.ts';
import { namedObjects, rowsOf, Snapshot } from '#storage/cut/snapshot.ts';
import type { FileStore } from '#storage/objects/file-store.ts';
import { newOwner } from '#storage/objects/owner.ts';
import type { S3Store } from '#storage/objects/s3-store.ts';
import { allObjects, CopiedObjects, type NamedObject, namedObjectOf, removedRecords } from './copied-objects.ts';
import {
	folderOf,
	format,
	linesOf,
	type Manifest,
	type ManifestDatabase,
	type ManifestTable,
	noteBegun,
	removeUnfinished,
	writeManifest,
} from './manifest.ts';
import { type BackupPlace, contentOf, type StoredFile } from './place.ts';
import { type Progress, sizeText } from './progress.ts';
import { pruningEnded } from './pruning.ts';

/** The service goes first: each reader keeps a core of the database busy. */
const readersMax = 2;
/** Little work for most of the gain. */
const compression = { level: 1 };

export interface BackupOptions {
	place: BackupPlace;
	/** `objects`: another way backs the database up. */
	kind: Manifest['kind'];
	/** Opens a connection of its own to the database. */
	connect(): Promise<BulkConnection>;
	store: FileStore | S3Store;
	version: string;
	/** Small files that belong to the cut, by their names. */
	files: Readonly<Record<string, string>>;
	progress: Progress;
}

/** A backup that is finished, as its command tells it. */
export interface BackupReport {
	cut: string;
	cut_at: string;
	kind: Manifest['kind'];
	tables: number;
	rows: number;
	/** The bytes of the tables, compressed. */
	database_bytes: number;
	/** Objects that rows name. */
	objects: number;
	object_files: number;
	object_bytes: number;
	/** The part of `object_bytes` that was not there from an earlier backup. */
	object_bytes_copied: number;
	objects_missing: number;
	examples: string[];
	/** The number of earlier backups that were cut off and of which nothing is left now. */
	unfinished_removed: number;
	seconds: number;
}

/**
 * Backs the network up while it works: the rows as they are at one moment, then the objects that these rows name, then the manifest. Objects were
 * durable before a row named them, and a pin keeps them until they are copied.
 */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
	const { place, store, progress } = options;
	const owner = newOwner();
	const removed = await removeUnfinished(place, owner);
	const began = new Date();
	const cut = `${began.toISOString().replace(/[-:]|\.\d+/g, '')}-${newId().slice(-12, -4)}`;
	const leave = await noteBegun(place, cut, owner);
	await pruningEnded(place, progress);
	const pin = await store.pins.take(owner);
	try {
		const manifest = await written({ ...options, cut, began });
		await writeManifest(place, manifest.manifest);
		progress.step(`the backup ${cut} is finished`);
		return reportOf(manifest.manifest, manifest.bytesCopied, removed, progress.seconds);
	} finally {
		await leave();
		await pin.release();
		await store.removeHeld();
	}
}

type Begun = BackupOptions & { cut: string; began: Date };

async function written(begun: Begun): Promise<{ manifest: Manifest; bytesCopied: number }> {
	const { place, kind, store, progress, cut, began, version } = begun;
	const folder = folderOf(cut);
	const files: StoredFile[] = [];
	for (const [name, content] of Object.entries(begun.files)) files.push(await place.put(`${folder}/files/${name}`, contentOf(content)));
	// These lists are read before the rows, because rows of the cut still name a record that is removed later.
	const removed = kind === 'full' ? await compressed(place, `${folder}/removed.gz`, lineBytes(removedRecords(store))) : null;
	const read = kind === 'full' ? await copiedDatabase(begun) : undefined;
	progress.step('objects: copying those that are not there yet');
	const objects = new CopiedObjects({ place, store, cut, progress });
	const named = read === undefined ? allObjects(store) : objectsIn(place, read.named);
	const list = await compressed(place, `${folder}/objects.gz`, lineBytes(asLines(objects.of(named))));
	progress.step(`objects: ${objects.files} files, ${sizeText(objects.bytes)}, ${sizeText(objects.bytesCopied)} of it copied`);
	const manifest: Manifest = {
		...{ format, cut, kind, version },
		began_at: began.toISOString(),
		cut_at: (read?.at ?? began).toISOString(),
		finished_at: new Date().toISOString(),
		database: read?.database ?? null,
		files,
		objects: {
			...{ list, removed, named: objects.named, files: objects.files, bytes: objects.bytes },
			...{ missing: objects.missing, examples: objects.examples },
		},
	};
	return { manifest, bytesCopied: objects.bytesCopied };
}

async function* asLines(values: AsyncIterable<object>): AsyncIterable<string> {
	for await (const value of values) yield `${JSON.stringify(value)}\n`;
}

async function* lineBytes(lines: AsyncIterable<string>): AsyncIterable<Uint8Array> {
	for await (const line of lines) yield Buffer.from(line);
}

async function* objectsIn(place: BackupPlace, named: StoredFile): AsyncIterable<NamedObject> {
	for await (const line of linesOf(place, named)) yield namedObjectOf(line);
}

/** Stores content compressed. */
async function compressed(place: BackupPlace, path: string, content: Readable | AsyncIterable<Uint8Array>): Promise<StoredFile> {
	const gzip = createGzip(compression);
	const piped = pipeline(content instanceof Readable ? content : Readable.from(content), gzip);
	// Storing fails with the same error.
	piped.catch(() => undefined);
	const stored = await place.put(path, gzip as AsyncIterable<Buffer>);
	await piped;
	return stored;
}

/** Copies the rows of all tables as they are at one moment, and the names of the objects that they name. */
async function copiedDatabase(begun: Begun): Promise<{ at: Date; named: StoredFile; database: ManifestDatabase }> {
	const { place, connect, progress, cut } = begun;
	const folder = folderOf(cut);
	const snapshot = await Snapshot.take(await connect());
	try {
		for (let reader = 1; reader < readersMax; reader++) await snapshot.share(await connect());
		const { tables: wanted, migrations, partitions, sequences } = snapshot.schema;
		progress.step(`database: reading ${wanted.length} tables as they are at ${snapshot.takenAt.toISOString()}`);
		const waiting = [...wanted];
		const tables: ManifestTable[] = [];
		const reading = snapshot.connections.map(async (connection) => {
			for (let table = waiting.shift(); table !== undefined; table = waiting.shift()) {
				const rows = rowsOf(connection, table);
				const file = await compressed(place, `${folder}/database/${table.name}.copy.gz`, rows);
				// The number is known when the next statement is done.
				await connection.execute('select 1');
				tables.push({ ...table, rows: (rows as Readable & { rowCount: number }).rowCount, file });
				progress.within(() => `database: ${tables.length} of ${wanted.length} tables, ${sizeText(bytesOf(tables))} compressed`);
			}
		});
		// One that fails ends the other by its own connection.
		await Promise.all(reading).catch(async (error: unknown) => {
			await snapshot.close();
			await Promise.allSettled(reading);
			throw error;
		});
		const [connection] = snapshot.connections as [BulkConnection];
		const named = await compressed(place, `${folder}/named.gz`, namedObjects(connection));
		progress.step(`database: ${tables.length} tables, ${sizeText(bytesOf(tables))} compressed`);
		tables.sort((one, other) => (one.name < other.name ? -1 : 1));
		return { at: snapshot.takenAt, named, database: { server_version: snapshot.serverVersion, migrations, tables, partitions, sequences } };
	} finally {
		await snapshot.close();
	}
}

const bytesOf = (tables: readonly ManifestTable[]) => tables.reduce((sum, { file }) => sum + file.bytes, 0);

function reportOf(manifest: Manifest, bytesCopied: number, unfinishedRemoved: number, seconds: number): BackupReport {
	const { cut, cut_at, kind, database, objects } = manifest;
	const tables = database?.tables ?? [];
	return {
		...{ cut, cut_at, kind, tables: tables.length },
		rows: tables.reduce((sum, { rows }) => sum + rows, 0),
		database_bytes: bytesOf(tables),
		...{ objects: objects.named, object_files: objects.files, object_bytes: objects.bytes, object_bytes_copied: bytesCopied },
		...{ objects_missing: objects.missing, examples: objects.examples, unfinished_removed: unfinishedRemoved, seconds },
	};
}
