import { readdir } from 'node:fs/promises';

/** Every file of this folder is a migration: `<number>-<name>.ts`, which exports one class. */
export const shippedMigrations = new URL('../../migrations/', import.meta.url);
const fileName = /^(\d{4})-[a-z0-9-]+\.ts$/;

/**
 * Returns the names of the migrations of a folder in the order of their numbers.
 * @throws Error when a file is no migration, or when two have the same number, because their order would be undefined
 */
export async function migrationNames(folder = shippedMigrations): Promise<string[]> {
	const files = (await readdir(folder)).sort();
	const taken = new Map<string, string>();
	for (const file of files) {
		const number = fileName.exec(file)?.[1];
		if (number === undefined) throw new Error(`a migration is named <four digits>-<name>.ts, and '${file}' is not`);
		const other = taken.get(number);
		if (other !== undefined) throw new Error(`the migrations '${other}' and '${file}' have the same number`);
		taken.set(number, file);
	}
	return files.map((file) => file.slice(0, -'.ts'.length));
}
