import { adoptRemovals, adoptSegment } from '#storage/objects/adopt.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { isObjectKey, placeOf } from '#storage/objects/object-key.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { type ListedFile, linesOf, listedFiles, type Manifest } from './manifest.ts';
import { type BackupPlace, checkedContent } from './place.ts';
import { type Progress, sizeText } from './progress.ts';

const segmentPattern = /^segments\/([0-9a-f]{32})\.segment$/;
const segmentId = /^[0-9a-f]{32}$/;

export interface RestoredObjects {
	files: number;
	bytes: number;
	/** Files that the store had already. */
	present: number;
}

/** Puts the objects of cuts into a store, each as its manifest states it. @throws DamagedFile; what was put until then stays */
export async function restoreObjects(
	place: BackupPlace,
	files: AsyncIterable<ListedFile> | Iterable<ListedFile>,
	store: FileStore | ObjectStore,
	progress: Progress,
): Promise<RestoredObjects> {
	const report: RestoredObjects = { files: 0, bytes: 0, present: 0 };
	progress.step('objects: writing them into the store');
	for await (const file of files) {
		const isNew = await restoreFile(place, file, store);
		report.files += 1;
		report.bytes += file.bytes;
		if (!isNew) report.present += 1;
		progress.within(() => `objects: ${report.files} files, ${sizeText(report.bytes)}`);
	}
	progress.step(`objects: ${report.files} files, ${sizeText(report.bytes)}`);
	return report;
}

/** Returns false when the store had it already: the names of objects and of segments are given once. */
async function restoreFile(place: BackupPlace, file: ListedFile, store: FileStore | ObjectStore): Promise<boolean> {
	const [, segment] = segmentPattern.exec(file.at) ?? [];
	const content = checkedContent(place, file);
	if (segment !== undefined) {
		if (!(store instanceof FileStore))
			throw new Error('the backup has segments, which a bucket does not take: restore into a folder first');
		return adoptSegment(store, segment, file.bytes, content);
	}
	if (!isObjectKey(file.at) || placeOf(file.at)) throw new Error('the backup names an object by a key that no object has');
	if ((await store.size(file.at)) === file.bytes) return false;
	const writer = store.begin(new Uint8Array());
	try {
		for await (const chunk of content) await writer.write(chunk);
		await writer.finish();
		await writer.publish(file.at, { sopInstanceUid: '', callingAe: '', source: '' });
		return true;
	} finally {
		await writer.abandon();
	}
}

/** Notes again which records of segments nobody wants. */
export async function restoreRemovals(place: BackupPlace, manifest: Manifest, store: FileStore | ObjectStore): Promise<void> {
	const { removed } = manifest.objects;
	if (removed === null || !(store instanceof FileStore)) return;
	const present = new Set(await store.segments.list());
	for await (const line of linesOf(place, removed)) {
		const [segment = '', list = ''] = line.split('\t');
		if (segmentId.test(segment) && present.has(segment)) await adoptRemovals(store, segment, Buffer.from(list, 'base64'));
	}
}

/**
 * The objects of all cuts together: each once, and of a segment that grew the longest. A database that was brought to a time between two cuts may
 * name any of them.
 */
export async function objectsOfAll(place: BackupPlace, manifests: readonly Manifest[]): Promise<ListedFile[]> {
	const longest = new Map<string, ListedFile>();
	for (const manifest of manifests) {
		for await (const file of listedFiles(place, manifest)) {
			const known = longest.get(file.at);
			if (known === undefined || known.bytes <= file.bytes) longest.set(file.at, file);
		}
	}
	return [...longest.values()];
}
