import { objectIdOf } from '#record/same-object.ts';
import type { ConnectionPool } from '../connection-pool.ts';
import { plainArray, textArray } from '../statement.ts';
import { namedObjects, type Relocation, relocateObjects, relocationParameters } from '../statements/relocate-objects.ts';
import { takeTurns } from '../statements/take-turns.ts';

/** Whoever has read a key before its object was moved may read the object for so long. */
export const keyHeldMs = 3_600_000;

/** An object as a row names it. */
export interface NamedObject {
	key: string;
	digest: string;
	bytes: number;
	callingAe: string;
	source: string;
}

/** Returns the objects that rows name, by the ids of their deliveries. */
export async function objectsNamed(
	database: ConnectionPool,
	instances: readonly { siteId: string; sopInstanceUid: string }[],
): Promise<Map<string, NamedObject>> {
	const rows = await database.run(namedObjects, [
		plainArray(instances.map(({ siteId }) => siteId)),
		textArray(instances.map(({ sopInstanceUid }) => sopInstanceUid)),
	]);
	const named = new Map<string, NamedObject>();
	for (const cells of rows) {
		const [key, digest, bytes, callingAe, source] = cells.map(String) as [string, string, string, string, string];
		const id = objectIdOf(key);
		if (id !== undefined) named.set(id, { key, digest, bytes: Number(bytes), callingAe, source });
	}
	return named;
}

/**
 * Lets rows name the copies of their objects, in the turns of their sites. The copies are durable before. Afterwards no row names the
 * objects that were copied.
 */
export async function relocate(database: ConnectionPool, relocations: readonly Relocation[]): Promise<void> {
	if (relocations.length === 0) return;
	const sites = [...new Set(relocations.map(({ siteId }) => siteId))];
	await database.transaction(async (client) => {
		await client.query(takeTurns.text, [plainArray(sites), plainArray(sites.map(() => 0))]);
		for (const { text } of relocateObjects) await client.query(text, relocationParameters(relocations));
	});
}
