import { listedFiles, type Manifest } from './manifest.ts';
import { type BackupPlace, checkedContent, checkedPath, DamagedFile, type StoredFile } from './place.ts';
import { type Progress, sizeText } from './progress.ts';

const examplesMax = 20;

/** Tells how many files of a backup are whole. */
export interface VerifyReport {
	cut: string;
	cut_at: string;
	files: number;
	bytes: number;
	/** Files that are missing, or do not have their digest. */
	damaged: number;
	examples: string[];
}

/** The files of a cut but its manifest. */
async function* filesOf(place: BackupPlace, manifest: Manifest): AsyncIterable<StoredFile> {
	yield* manifest.files;
	for (const { file } of manifest.database?.tables ?? []) yield file;
	if (manifest.objects.removed !== null) yield manifest.objects.removed;
	yield manifest.objects.list;
	yield* listedFiles(place, manifest);
}

/** Reads every file of a cut, and compares it with its digest. */
export async function verifyCut(place: BackupPlace, manifest: Manifest, progress: Progress): Promise<VerifyReport> {
	const { cut, cut_at } = manifest;
	const report: VerifyReport = { cut, cut_at, files: 0, bytes: 0, damaged: 0, examples: [] };
	progress.step(`checking the files of ${cut}`);
	const isDamaged = (path: string) => {
		report.damaged += 1;
		if (report.examples.length < examplesMax) report.examples.push(path);
	};
	try {
		for await (const file of filesOf(place, manifest)) {
			report.files += 1;
			if (await isWhole(place, file)) report.bytes += file.bytes;
			else isDamaged(file.path);
			progress.within(() => `${report.files} files, ${sizeText(report.bytes)}, ${report.damaged} damaged`);
		}
	} catch (error) {
		// The list of the objects is damaged, and was counted, so its files are not known.
		if (!report.examples.includes(manifest.objects.list.path)) throw error;
	}
	progress.step(`${report.files} files, ${sizeText(report.bytes)}, ${report.damaged} damaged`);
	return report;
}

/** @throws Error when the place does not answer */
async function isWhole(place: BackupPlace, file: StoredFile): Promise<boolean> {
	try {
		for await (const _chunk of checkedContent(place, file));
		return true;
	} catch (error) {
		if (error instanceof DamagedFile || (await place.find(checkedPath(file.path))) === undefined) return false;
		throw error;
	}
}
