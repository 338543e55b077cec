import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '#core/failure.ts';
import { nilId } from '#core/id.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { exportedObjects } from '#storage/statements/administrative/export-objects.ts';

export interface ExportOptions {
	/** The folder of the tree. */
	to: string;
	/** Slug; undefined: every site. */
	site: string | undefined;
	studyUid: string | undefined;
}

export interface ExportReport {
	instances: number;
	written: number;
	/** Files that were there already with the size of their instance. */
	present: number;
	bytes: number;
	/** Instances whose object is missing or not whole. */
	missing: number;
	examples: string[];
}

interface Row {
	site_id: string;
	site: string;
	study_uid: string;
	series_uid: string;
	sop_instance_uid: string;
	object_key: string;
	bytes: number;
}

/** The report counts all and gives some examples. */
const examplesMax = 20;
/** More would keep the store from the instances that come in. */
const atOnce = 4;

/**
 * Writes instances as a tree of DICOM files, `<site>/<study>/<series>/<instance>.dcm`. What a run wrote before is not written again, so a run
 * that was broken off can be repeated.
 */
export async function exportObjects(
	database: ConnectionPool,
	store: Pick<ObjectStore, 'read'>,
	{ to, site, studyUid }: ExportOptions,
): Promise<ExportReport> {
	const report: ExportReport = { instances: 0, written: 0, present: 0, bytes: 0, missing: 0, examples: [] };
	for (let after: Row | undefined; ; ) {
		const from = [after?.site_id ?? nilId, after?.sop_instance_uid ?? ''];
		const page: Row[] = await database.rows(exportedObjects, [...from, site ?? null, studyUid ?? null]);
		for (let at = 0; at < page.length; at += atOnce)
			await Promise.all(page.slice(at, at + atOnce).map((row) => exportObject(store, to, row, report)));
		after = page.at(-1);
		if (after === undefined) return report;
	}
}

async function exportObject(store: Pick<ObjectStore, 'read'>, to: string, row: Row, report: ExportReport): Promise<void> {
	const { site, study_uid: study, series_uid: series, sop_instance_uid: instance } = row;
	const path = join(to, nameOf(site), nameOf(study), nameOf(series), `${nameOf(instance)}.dcm`);
	report.instances += 1;
	const present = await stat(path).catch(() => undefined);
	if (present?.size === row.bytes) {
		report.present += 1;
		return;
	}
	await mkdir(dirname(path), { recursive: true, mode: 0o750 });
	if (await written(store, row, path)) {
		report.written += 1;
		report.bytes += row.bytes;
		return;
	}
	report.missing += 1;
	if (report.examples.length < examplesMax) report.examples.push(row.object_key);
}

/** The file has its name when it is whole and durable. Returns false, and leaves none, when the object is not as long as its row says. */
async function written(store: Pick<ObjectStore, 'read'>, { object_key: key, bytes }: Row, path: string): Promise<boolean> {
	const temporary = `${path}.part`;
	const file = await open(temporary, 'w', 0o640);
	let total = 0;
	try {
		for await (const piece of store.read(key)) {
			await file.writeFile(piece);
			total += piece.length;
		}
		if (total === bytes) await file.sync();
	} catch (error) {
		if (!(error instanceof Failure) || error.code !== 'not-found') throw error;
		total = -1;
	} finally {
		await file.close();
		if (total !== bytes) await rm(temporary, { force: true });
	}
	if (total !== bytes) return false;
	await rename(temporary, path);
	return true;
}

/** UIDs that sites accept leniently may have any character. */
function nameOf(text: string): string {
	const name = encodeURIComponent(text).replaceAll('*', '%2A');
	return /^\.+$/.test(name) ? name.replaceAll('.', '%2E') : name;
}
