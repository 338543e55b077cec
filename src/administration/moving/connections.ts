import { databaseNameOf, readDatabaseUrl } from '#core/database-url.ts';
import type { BulkConnection } from '#storage/bulk-connection.ts';
import type { Database } from '#storage/database.ts';
import { lockMove, type MovingSite, readSite } from '#storage/moving/site-state.ts';
import { AdministrationError } from '../context.ts';

/** The connections of a move. Each does one thing at a time. */
export interface Connections {
	/** Reads the rows that move. */
	reading: BulkConnection;
	/** Writes where the site stands in its own database. */
	acting: BulkConnection;
	/** Keeps the site closed. */
	keeping: BulkConnection;
	target: BulkConnection;
}

export interface Databases {
	source: Database;
	target: Database;
}

/** Says where a database is, without user and password. */
export function peerOf(url: string): string {
	const { hosts } = readDatabaseUrl(url);
	return `${hosts.map(({ host, port }) => `${host}:${port}`).join(',')}/${databaseNameOf(url)}`;
}

/**
 * Opens the connections of a move for some work. Locks keep any other move of the site away, in both databases; as they hold within one database,
 * they also tell that the two are one.
 * @throws AdministrationError if somebody else moves the site
 */
export async function withConnections<T>(
	{ source, target }: Databases,
	slug: string,
	work: (opened: Connections) => Promise<T>,
): Promise<T> {
	const all: BulkConnection[] = [];
	const opened = async (database: Database) => {
		const connection = await database.bulk('move');
		all.push(connection);
		return connection;
	};
	try {
		if (!(await lockMove(await opened(source), slug)))
			throw new AdministrationError(`the site '${slug}' is being moved by somebody else`, 'conflict');
		if (!(await lockMove(await opened(target), slug)))
			throw new AdministrationError(
				`the target is the database of the site itself, or somebody moves the site '${slug}' from there`,
				'conflict',
			);
		return await work({
			reading: await opened(source),
			acting: await opened(source),
			keeping: await opened(source),
			target: await opened(target),
		});
	} finally {
		await Promise.all(all.map((connection) => connection.close()));
	}
}

/** @throws AdministrationError */
export async function movingSite(connection: BulkConnection, slug: string): Promise<MovingSite> {
	const site = await readSite(connection, 'slug', slug);
	if (site === undefined) throw new AdministrationError(`there is no site '${slug}'`, 'not-found');
	if (site.state === 'arriving')
		throw new AdministrationError(`the site '${slug}' itself is being copied from ${site.peer ?? 'elsewhere'}`, 'conflict');
	return site;
}
