import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { repeatedly } from '#core/watch.ts';
import type { CutPartition, CutSequence } from '#storage/cut/tables.ts';
import { mayBeAtWork } from '#storage/objects/owner.ts';
import { type BackupPlace, checkedContent, contentOf, type StoredFile, textIfThere, textOf } from './place.ts';

/** The layout that this version writes. It reads no other. */
export const format = 1;

export interface ManifestTable {
	name: string;
	columns: string[];
	rows: number;
	file: StoredFile;
}

/** The database of a cut. */
export interface ManifestDatabase {
	server_version: string;
	migrations: string[];
	tables: ManifestTable[];
	partitions: CutPartition[];
	sequences: CutSequence[];
}

/** Says what a cut consists of, with the digest of every file. It is written last: without one a cut is not finished. */
export interface Manifest {
	format: number;
	cut: string;
	/** `objects`: the database is backed up in another way. */
	kind: 'full' | 'objects';
	version: string;
	began_at: string;
	/** The moment of which the rows are; of a backup of the objects alone, when it began. */
	cut_at: string;
	finished_at: string;
	database: ManifestDatabase | null;
	/** Files that belong to DATA_DIR, and the configuration for people to read. */
	files: StoredFile[];
	objects: {
		/** Lists the files that hold objects, one line of JSON each (ListedFile). */
		list: StoredFile;
		/** Lists the records of segments that nobody wants any more. */
		removed: StoredFile | null;
		/** Objects that rows name. */
		named: number;
		files: number;
		bytes: number;
		/** Objects that rows name and the store did not have. */
		missing: number;
		examples: string[];
	};
}

/** A file with an object, or a whole segment. */
export interface ListedFile extends StoredFile {
	/** The key of the object, or `segments/<id>.segment`. */
	at: string;
}

const folder = 'cuts';
export const folderOf = (cut: string) => `${folder}/${cut}`;
const manifestOf = (cut: string) => `${folderOf(cut)}/manifest.json`;
const begunOf = (cut: string) => `${folderOf(cut)}/begun.json`;
const verifiedOf = (cut: string) => `${folderOf(cut)}/verified.json`;
/** A copy that takes days is not taken for one that was cut off. Places may keep each version of a file, so it is said seldom. */
const tellMs = 3_600_000;

/** Names the process that works on a cut without a manifest. */
interface Begun {
	owner: string;
	/** The time at which its process last said that it works on it. */
	told_at: string;
	/** The cut is being removed: nobody finishes it. */
	removing: boolean;
}

async function tellBegun(place: BackupPlace, cut: string, about: Pick<Begun, 'owner' | 'removing'>): Promise<void> {
	await place.put(begunOf(cut), contentOf(JSON.stringify({ ...about, told_at: new Date().toISOString() })));
}

/** Says in the place that a cut is being made, until what it returns is called. */
export async function noteBegun(place: BackupPlace, cut: string, owner: string): Promise<() => Promise<void>> {
	const tell = () => tellBegun(place, cut, { owner, removing: false });
	await tell();
	return repeatedly(tellMs, tell);
}

/** Notes that every file of a cut was read and is whole, or that one is not. */
export async function noteVerified(place: BackupPlace, cut: string, isWhole: boolean): Promise<void> {
	if (isWhole) await place.put(verifiedOf(cut), contentOf(JSON.stringify({ verified_at: new Date().toISOString() })));
	else await place.remove(verifiedOf(cut));
}

/** Returns when a cut was last found to be whole; undefined when it never was, or was damaged since. */
export async function verifiedAt(place: BackupPlace, cut: string): Promise<string | undefined> {
	const text = await textIfThere(place, verifiedOf(cut));
	return text === undefined ? undefined : (JSON.parse(text) as { verified_at: string }).verified_at;
}

export async function writeManifest(place: BackupPlace, manifest: Manifest): Promise<void> {
	const text = JSON.stringify(manifest);
	await place.put(manifestOf(manifest.cut), contentOf(`{"sha256":"${digestOf(text)}","manifest":${text}}\n`));
}

function digestOf(text: string): string {
	return createHash('sha256').update(text).digest('hex');
}

/** @throws Error when the manifest was changed, or is of a later version */
async function readManifest(place: BackupPlace, cut: string): Promise<Manifest> {
	const path = manifestOf(cut);
	let read: { sha256?: unknown; manifest?: Manifest };
	try {
		read = JSON.parse(await textOf(place.read(path)));
	} catch (cause) {
		throw new Error(`the backup is damaged: ${path} cannot be read`, { cause });
	}
	if (read.manifest === undefined || digestOf(JSON.stringify(read.manifest)) !== read.sha256)
		throw new Error(`the backup is damaged: ${path} does not have the SHA-256 that it states`);
	if (read.manifest.format !== format)
		throw new Error(`the backup ${cut} was made by a newer version of Tributary (${read.manifest.version})`);
	return read.manifest;
}

/** A cut that may be there. Of one that is not finished nothing is known but when it began. */
export type Cut = { cut: string; manifest: Manifest; fault?: undefined } | { cut: string; manifest?: undefined; fault?: string };

/** Returns all cuts, the oldest first. */
export async function cutsOf(place: BackupPlace): Promise<Cut[]> {
	const found: Cut[] = [];
	for (const cut of await place.folders(folder)) {
		if ((await place.find(manifestOf(cut))) === undefined) {
			found.push({ cut });
			continue;
		}
		found.push(
			await readManifest(place, cut).then(
				(manifest) => ({ cut, manifest }),
				(error: Error) => ({ cut, fault: error.message }),
			),
		);
	}
	return found;
}

/**
 * Returns the newest cut that is finished, or the newest that is not younger than `at`.
 * @throws Error when there is none, or when it is damaged
 */
export async function chosenCut(place: BackupPlace, kind: Manifest['kind'], at: Date | undefined): Promise<Manifest> {
	const cuts = await cutsOf(place);
	const fitting = cuts.filter(({ manifest, fault }) => {
		if (manifest === undefined) return fault !== undefined;
		return manifest.kind === kind && (at === undefined || new Date(manifest.cut_at) <= at);
	});
	// A damaged manifest does not tell of which time it is: an older cut is never taken in its place silently.
	const newest = fitting.at(-1);
	if (newest === undefined) {
		const before = at === undefined ? '' : ` of ${at.toISOString()} or before`;
		throw new Error(`${place.name} has no finished backup${kind === 'objects' ? ' of the objects alone' : ''}${before}`);
	}
	if (newest.manifest === undefined) throw new Error(newest.fault);
	return newest.manifest;
}

/** Returns the cuts that are not finished: those on which a process may be at work, and the others. */
export async function unfinishedCuts(place: BackupPlace): Promise<{ atWork: string[]; left: string[] }> {
	const found = { atWork: [] as string[], left: [] as string[] };
	for (const cut of await place.folders(folder)) {
		if ((await place.find(manifestOf(cut))) !== undefined) continue;
		const begun = await begunBy(place, cut);
		const isAtWork = !begun.removing && (await mayBeAtWork(begun.owner, async () => Date.parse(begun.told_at)));
		(isAtWork ? found.atWork : found.left).push(cut);
	}
	return found;
}

/** Removes what backups left that were cut off, unless they may still be at work. */
export async function removeUnfinished(place: BackupPlace, owner: string): Promise<number> {
	const { left } = await unfinishedCuts(place);
	for (const cut of left) await removeCut(place, cut, owner);
	return left.length;
}

async function begunBy(place: BackupPlace, cut: string): Promise<Begun> {
	const text = await textIfThere(place, begunOf(cut));
	if (text === undefined) return { owner: '', told_at: '', removing: false };
	// Earlier releases wrote when it began, and nothing else.
	const { began_at: began, ...read } = JSON.parse(text) as Partial<Begun> & { began_at?: string };
	return { owner: '', told_at: began ?? '', removing: false, ...read };
}

/** Removes a cut: its manifest first, so that what remains of an interrupted removal is no backup, and is known as such by anybody. */
export async function removeCut(place: BackupPlace, cut: string, owner: string): Promise<void> {
	const begun = begunOf(cut);
	await tellBegun(place, cut, { owner, removing: true });
	await place.remove(manifestOf(cut));
	const files: string[] = [];
	for await (const { path } of place.files(folderOf(cut))) if (path !== begun) files.push(path);
	for (const file of files) await place.remove(file);
	await place.remove(begun);
}

/** Returns the content of a compressed file, compared with its digest. @throws DamagedFile at its end */
export async function* uncompressed(place: BackupPlace, file: StoredFile): AsyncIterable<Uint8Array> {
	const gunzip = createGunzip();
	let fault: unknown;
	const piped = pipeline(Readable.from(checkedContent(place, file)), gunzip).catch((error: unknown) => {
		fault = error;
	});
	try {
		yield* gunzip as AsyncIterable<Buffer>;
	} catch (error) {
		await piped;
		// Damaged bytes are found by gunzip first; people are told which file it is.
		throw (error as NodeJS.ErrnoException).code?.startsWith('Z_')
			? new Error(`the backup is damaged: ${file.path} cannot be read`)
			: (fault ?? error);
	}
}

/** Returns the lines of a compressed file. */
export async function* linesOf(place: BackupPlace, file: StoredFile): AsyncIterable<string> {
	let rest = '';
	for await (const chunk of uncompressed(place, file)) {
		const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n');
		rest = lines.pop() ?? '';
		yield* lines;
	}
	if (rest !== '') yield rest;
}

/** Returns the files with objects of a cut. */
export async function* listedFiles(place: BackupPlace, manifest: Manifest): AsyncIterable<ListedFile> {
	for await (const line of linesOf(place, manifest.objects.list)) yield JSON.parse(line) as ListedFile;
}
