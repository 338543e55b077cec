import { dayMs } from '#core/date-range.ts';
import type { Log } from '#core/log.ts';
import type { Connection } from '#storage/connection.ts';
import {
	auditKeepDays,
	countRemovable,
	findRemovable,
	readRemovableEnds,
	removeMonths,
} from '#storage/statements/administrative/audit-retention.ts';
import { type AuditChain, chainEndOf } from './audit-chain.ts';

/**
 * Removes the months of the trail that ended longer ago than `keepDays`, and than the days of the site that keeps its events longest. A batch
 * says before which moment, and what the last batch of each chain was, so that the rest can still be verified.
 */
export async function removeOldMonths(
	connection: Pick<Connection, 'run'>,
	{ chain, keepDays, nowMs, log }: { chain: AuditChain; keepDays: number; nowMs: number; log: Log },
): Promise<void> {
	const [kept] = await connection.run(auditKeepDays, [keepDays]);
	const longestDays = Number(kept?.[0] ?? 0);
	if (longestDays === 0) return;
	const [found] = await connection.run(findRemovable, [new Date(nowMs - longestDays * dayMs).toISOString()]);
	const before = found?.[0];
	if (!before) return;
	const [counted] = await connection.run(countRemovable, [before]);
	const ends = (await connection.run(readRemovableEnds, [before])).map(chainEndOf);
	const events = Number(counted?.[0] ?? 0);
	await chain.append('write', [], { removed: { before, events, ends } });
	const [removed] = await connection.run(removeMonths, [before]);
	log.info({ months: Number(removed?.[0]), events }, 'months of the audit trail were removed by age (AUDIT_KEEP_DAYS)');
}
