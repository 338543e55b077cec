import type { Stoppable, Timers } from '#core/timers.ts';
import type { Cell } from '../cell.ts';
import type { Connection } from '../connection.ts';
import { ColumnValues, type Statement } from '../statement.ts';

/** A place in the write-ahead log, in bytes from its beginning. A standby has everything that was committed before the place that it has replayed. */
export type Position = number;

/** The place up to which a server has replayed the log, and which server it is. */
export interface Replayed {
	/** `undefined`: the server is no standby. */
	position: Position | undefined;
	server: string;
}

/**
 * Asks a standby how far it is. A statement that follows on the same connection sees at least that, because its snapshot is taken later. The moment
 * of its start names a server: another one that takes over an address has another.
 */
export const replayedStatement: Statement = {
	name: 'replayed_position',
	text: `select case when pg_is_in_recovery() then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') end, pg_postmaster_start_time()`,
};

export function replayedOf([row]: readonly Cell[][]): Replayed {
	const [position = null, server] = row ?? [];
	return { position: position === null ? undefined : Number(position), server: server ?? '' };
}

/**
 * Asks the primary how far its log is on disk, and which transaction last took the turn of each site. The snapshot by which the rows are read is older
 * than the position, so each commit that they show lies before it. A site without a turn has no writes.
 */
export const writtenStatement: Statement = {
	name: 'written_position',
	text: `
select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0'), pg_postmaster_start_time(), k.site_id, t.sequence || '/' || t.xmin
from unnest($1::uuid[]) as k (site_id) left join site_turn t on t.site_id = k.site_id`,
};

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns the sites that a statement is about: they are its first value. @returns undefined if the statement does not say it there */
export function sitesOf([first]: readonly unknown[]): readonly string[] | undefined {
	const sites = first instanceof ColumnValues ? first.distinct() : typeof first === 'string' ? [first] : [];
	return sites.length > 0 && sites.every((site) => uuid.test(site)) ? sites : undefined;
}

/** A server that says nothing for so long is away. It answers within a millisecond, so this is a matter of the network or of its host. */
const answerMsMax = 2000;

/** Asks a server on a connection where nothing else waits. Never rejects. @returns undefined for a server that is away */
export async function answerOf(
	connection: Pick<Connection, 'runOpened'>,
	statement: Statement,
	values: readonly unknown[],
	timers: Timers,
): Promise<Cell[][] | undefined> {
	let timer: Stoppable | undefined;
	const silence = new Promise<undefined>((resolve) => {
		timer = timers.after(answerMsMax, () => resolve(undefined), false);
	});
	try {
		return await Promise.race([connection.runOpened(statement, values), silence]);
	} catch {
		return undefined;
	} finally {
		timer?.stop();
	}
}
