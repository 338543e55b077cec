import type { BulkConnection } from '../bulk-connection.ts';
import { makePartition } from '../cut/load.ts';
import { schemaOf, textSettings } from '../cut/tables.ts';
import { stateOf } from '../sqlstate.ts';
import { copyBuckets, differing, digestsOf, rowCount } from './compare.ts';
import type { MovedTable, Side } from './moved-tables.ts';
import { inTransaction } from './site-state.ts';

export interface Round {
	/** Rows of the site in all tables. */
	rows: number;
	/** Rows that were sent. */
	sent: number;
	/** Groups of rows that differed. */
	changed: number;
	seconds: number;
}

/**
 * Makes the target equal to one moment of the source, table by table. An interrupted round leaves whole tables, and the next one goes on from
 * there. With `isLast` each table is compared again before it is committed.
 * @throws Error when a table differs after it was copied
 */
export async function carryRound(
	source: Side,
	target: Side,
	{ tables, siteId, isLast, told }: { tables: readonly MovedTable[]; siteId: string; isLast: boolean; told(table: string): void },
): Promise<Round> {
	const round = { rows: 0, sent: 0, changed: 0 };
	const began = performance.now();
	const { connection } = source;
	await makeMonths(connection, target.connection, tables);
	await connection.control('begin');
	await connection.execute('set transaction isolation level repeatable read, read only', ...textSettings);
	for (const table of tables) {
		told(table.name);
		await inTransaction(target.connection, async () => {
			const [wanted, held] = await Promise.all([digestsOf(source, table, siteId), digestsOf(target, table, siteId)]);
			const chosen = differing(wanted, held);
			round.rows += rowCount(wanted);
			if (chosen.length === 0) return;
			round.changed += chosen.length;
			round.sent += await copyBuckets(source, target, table, { siteId, chosen, isEmpty: held.size === 0 });
			if (!isLast) return;
			const left = differing(wanted, await digestsOf(target, table, siteId));
			if (left.length > 0) throw new Error(`rows of ${table.name} differ after they were copied`);
		});
	}
	await connection.control('commit');
	return { ...round, seconds: Math.round(performance.now() - began) / 1000 };
}

/** PostgreSQL refuses a partition whose rows the default partition has. They stay there, and are found all the same. */
const checkViolation = '23514';

/** Makes the months that the source has and the target lacks, so that retention may drop them there as a whole. */
async function makeMonths(source: BulkConnection, target: BulkConnection, tables: readonly MovedTable[]): Promise<void> {
	const moved = new Set(tables.map(({ name }) => name));
	const there = new Set((await schemaOf(target)).partitions.map(({ name }) => name));
	for (const partition of (await schemaOf(source)).partitions) {
		if (!moved.has(partition.parent) || there.has(partition.name)) continue;
		try {
			await inTransaction(target, () => makePartition(target, partition));
		} catch (error) {
			if (stateOf(error) !== checkViolation) throw error;
		}
	}
}
