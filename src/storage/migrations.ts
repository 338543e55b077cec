import { readdir } from 'node:fs/promises';
import { Migration } from '@mikro-orm/migrations';

export interface NamedMigration {
	name: string;
	class: new (...given: ConstructorParameters<typeof Migration>) => Migration;
}

/** Every file of this folder is a migration: `<number>-<name>.ts`, which exports one class. */
const shipped = new URL('../../migrations/', import.meta.url);
const fileName = /^(\d{4})-[a-z0-9-]+\.ts$/;

/**
 * Returns the migrations of a folder in the order of their numbers. They are written by hand; the ORM only runs them and keeps their names.
 * @throws Error when a file is no migration, or when two have the same number, because their order would be undefined
 */
export async function migrationsIn(folder = shipped): Promise<NamedMigration[]> {
	const names = (await readdir(folder)).sort();
	refuseMisnamed(names);
	return Promise.all(names.map(async (name) => ({ name: name.slice(0, -'.ts'.length), class: await migrationOf(new URL(name, folder)) })));
}

function refuseMisnamed(names: readonly string[]): void {
	const taken = new Map<string, string>();
	for (const name of names) {
		const number = fileName.exec(name)?.[1];
		if (number === undefined) throw new Error(`a migration is named <four digits>-<name>.ts, and '${name}' is not`);
		const other = taken.get(number);
		if (other !== undefined) throw new Error(`the migrations '${other}' and '${name}' have the same number`);
		taken.set(number, name);
	}
}

async function migrationOf(file: URL): Promise<NamedMigration['class']> {
	const exported: unknown[] = Object.values((await import(file.href)) as object);
	const [only, another] = exported.filter(isMigration);
	if (only === undefined || another !== undefined) throw new Error(`${file.pathname} exports one migration`);
	return only;
}

function isMigration(exported: unknown): exported is NamedMigration['class'] {
	return typeof exported === 'function' && exported.prototype instanceof Migration;
}
