import { Migration } from '@mikro-orm/migrations';
import { migrationNames, shippedMigrations } from './migration-names.ts';

export interface NamedMigration {
	name: string;
	class: new (...given: ConstructorParameters<typeof Migration>) => Migration;
}

/**
 * Returns the migrations of a folder in the order of their numbers. They are written by hand; the ORM only runs them and keeps their names.
 * @throws Error when a file is no migration, or when two have the same number, because their order would be undefined
 */
export async function migrationsIn(folder = shippedMigrations): Promise<NamedMigration[]> {
	const names = await migrationNames(folder);
	return Promise.all(names.map(async (name) => ({ name, class: await migrationOf(new URL(`${name}.ts`, folder)) })));
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
