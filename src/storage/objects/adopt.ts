import { chmod, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileStore } from './file-store.ts';
import { syncFolder, unlessMissing } from './file-system.ts';
import { sealedMode } from './segment-file.ts';

/**
 * Puts a whole segment into the folder of a store, sealed: nobody appends to it any more. Returns false when the folder has it already with that
 * size. Nothing is left behind when `content` throws.
 */
export async function adoptSegment(store: FileStore, id: string, bytes: number, content: AsyncIterable<Uint8Array>): Promise<boolean> {
	const path = store.segments.pathOf(id);
	const present = await stat(path).catch((error: unknown) => unlessMissing(error, undefined));
	if (present?.size === bytes) return false;
	const part = `${path}.restoring`;
	await mkdir(dirname(path), { recursive: true, mode: 0o750 });
	await rm(part, { force: true });
	try {
		const file = await open(part, 'wx', 0o640);
		try {
			for await (const chunk of content) await file.writeFile(chunk);
			await file.sync();
		} finally {
			await file.close();
		}
		await chmod(part, sealedMode);
		await rename(part, path);
		await syncFolder(dirname(path));
		return true;
	} catch (error) {
		await rm(part, { force: true });
		throw error;
	}
}

/** Puts the list of a segment's removed records beside it. */
export async function adoptRemovals(store: FileStore, segment: string, content: Uint8Array): Promise<void> {
	await writeFile(store.removals.pathOf(segment), content, { mode: 0o640, flush: true });
}
