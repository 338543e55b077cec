import { newOwner } from '#storage/objects/owner.ts';
import { type KeepReason, type KeepRules, keptCuts } from './keep.ts';
import { cutsOf, listedFiles, type Manifest, removeCut, removeUnfinished, unfinishedCuts, verifiedAt } from './manifest.ts';
import { NamedPaths } from './named-paths.ts';
import type { BackupPlace, PresentFile } from './place.ts';
import { type Progress, sizeText } from './progress.ts';
import { beginPruning } from './pruning.ts';

export interface PruneOptions {
	place: BackupPlace;
	rules: Readonly<KeepRules>;
	/** False: nothing is removed, and the report tells what would be. */
	remove: boolean;
	/** Called for each backup before any of it is removed. */
	removing(manifest: Manifest): Promise<void>;
	progress: Progress;
}

/** A backup, and the rules that keep it. */
export interface PrunedCut {
	cut: string;
	cut_at: string;
	kind: Manifest['kind'];
	/** Why it stays; empty for one that goes. */
	kept_as: KeepReason[];
}

export interface PruneReport {
	/** False: nothing was removed. */
	removed: boolean;
	cuts: PrunedCut[];
	cuts_kept: number;
	cuts_removed: number;
	/** Backups that were cut off. */
	unfinished_removed: number;
	/** Files with objects that no backup that stays names. */
	object_files_removed: number;
	object_bytes_removed: number;
	object_files_kept: number;
	object_bytes_kept: number;
	seconds: number;
}

/** All that backups share lies there. */
const sharedFolder = 'objects';
/** Files that are removed at the same time. */
const atOnce = 8;

/**
 * Removes the backups that no rule keeps, and the shared objects that no other backup names. What stays is known before anything is
 * removed; backups go first, each manifest before the rest, and then the objects. So a run that was cut off leaves no backup that lacks
 * anything, and the next one removes what is left.
 * @throws Error when a manifest or the list of a backup that stays cannot be read, since what it names is not known then
 */
export async function prune(options: PruneOptions): Promise<PruneReport> {
	const { place, remove } = options;
	if (!remove) return pruned(options, undefined);
	const owner = newOwner();
	const pruning = await beginPruning(place, owner);
	try {
		return await pruned(options, owner);
	} finally {
		await pruning.end();
	}
}

async function pruned({ place, rules, removing, progress }: PruneOptions, owner: string | undefined): Promise<PruneReport> {
	const manifests = await readManifests(place);
	const verified = new Set<string>();
	for (const { cut } of manifests) if ((await verifiedAt(place, cut)) !== undefined) verified.add(cut);
	const kept = keptCuts(manifests, verified, rules);
	const [stay, go] = [manifests.filter(({ cut }) => kept.has(cut)), manifests.filter(({ cut }) => !kept.has(cut))];
	progress.step(`${stay.length} backups stay; reading what they name`);
	const named = await namedPaths(place, stay);
	const unfinished = owner === undefined ? (await unfinishedCuts(place)).left.length : await removeUnfinished(place, owner);
	if (owner !== undefined) {
		for (const manifest of go) {
			await removing(manifest);
			await removeCut(place, manifest.cut, owner);
			progress.step(`removed ${manifest.cut}`);
		}
	}
	const objects = await sweptObjects(place, named, owner !== undefined, progress);
	return {
		removed: owner !== undefined,
		cuts: manifests.map(({ cut, cut_at, kind }) => ({ cut, cut_at, kind, kept_as: kept.get(cut) ?? [] })),
		...{ cuts_kept: stay.length, cuts_removed: go.length, unfinished_removed: unfinished, ...objects, seconds: progress.seconds },
	};
}

async function readManifests(place: BackupPlace): Promise<Manifest[]> {
	const manifests: Manifest[] = [];
	for (const { manifest, fault } of await cutsOf(place)) {
		if (fault !== undefined) throw new Error(`nothing is removed, since it is not known which objects each backup needs: ${fault}`);
		if (manifest !== undefined) manifests.push(manifest);
	}
	return manifests;
}

async function namedPaths(place: BackupPlace, manifests: readonly Manifest[]): Promise<NamedPaths> {
	const named = new NamedPaths();
	for (const manifest of manifests) {
		for await (const { path } of listedFiles(place, manifest)) named.add(path);
		named.sort();
	}
	return named;
}

type SweptObjects = Pick<PruneReport, 'object_files_removed' | 'object_bytes_removed' | 'object_files_kept' | 'object_bytes_kept'>;

async function sweptObjects(place: BackupPlace, named: NamedPaths, remove: boolean, progress: Progress): Promise<SweptObjects> {
	const swept: SweptObjects = { object_files_removed: 0, object_bytes_removed: 0, object_files_kept: 0, object_bytes_kept: 0 };
	let unnamed: PresentFile[] = [];
	const settle = async () => {
		if (remove) await Promise.all(unnamed.map(({ path }) => place.remove(path)));
		unnamed = [];
	};
	for await (const file of place.files(sharedFolder)) {
		if (named.has(file.path)) {
			swept.object_files_kept += 1;
			swept.object_bytes_kept += file.bytes;
			continue;
		}
		swept.object_files_removed += 1;
		swept.object_bytes_removed += file.bytes;
		unnamed.push(file);
		if (unnamed.length === atOnce) await settle();
		progress.within(() => sweptText(swept));
	}
	await settle();
	progress.step(sweptText(swept));
	return swept;
}

const sweptText = (swept: SweptObjects) =>
	`objects: ${swept.object_files_kept} files stay (${sizeText(swept.object_bytes_kept)}), ${swept.object_files_removed} go (${sizeText(swept.object_bytes_removed)})`;
