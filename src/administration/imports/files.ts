import { opendir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { AdministrationError } from '../context.ts';

/** The names of one folder are in memory at a time, so that they can be sorted. */
const entriesMax = 1_000_000;

/**
 * Lists the files below a folder in the order of their names, folder by folder. A name says which version of the file it was: one that has
 * changed since is another file.
 */
export async function* filesBelow(root: string, folder = root): AsyncGenerator<string> {
	const entries: { name: string; isFolder: boolean }[] = [];
	for await (const entry of await opendir(folder)) {
		if (entries.length >= entriesMax) throw new AdministrationError(`${folder} has more than ${entriesMax} entries; divide it`);
		if (entry.isDirectory() || entry.isFile()) entries.push({ name: entry.name, isFolder: entry.isDirectory() });
	}
	entries.sort((left, right) => (left.name < right.name ? -1 : 1));
	for (const { name, isFolder } of entries) {
		const path = join(folder, name);
		if (isFolder) yield* filesBelow(root, path);
		else yield relative(root, path);
	}
}

/** A file and its version, as the journal names it. */
export async function unitOf(root: string, name: string): Promise<string> {
	const { size, mtimeMs } = await stat(join(root, name));
	return `${name} (${size} bytes, ${new Date(mtimeMs).toISOString()})`;
}

/** The name of the file of a unit. */
export const nameOf = (unit: string) => unit.slice(0, unit.lastIndexOf(' ('));

/** @throws AdministrationError if it is no folder */
export async function refuseNoFolder(folder: string): Promise<void> {
	const found = await stat(folder).catch(() => undefined);
	if (found?.isDirectory() !== true) throw new AdministrationError(`there is no folder '${folder}'`, 'not-found', 'folder');
}
