import type { ConnectionPool } from '#storage/connection-pool.ts';
import { keptRows } from '#storage/statements/administrative/retention.ts';
import { countOldStudies } from '#storage/statements/administrative/study-retention.ts';
import type { RetentionLimits } from './limits.ts';
import type { KeptName } from './metrics.ts';
import { cutoffOf, type KeptSite, type Policy, policyOf } from './policy.ts';
import { keptOf } from './run.ts';

/** A run would remove this from one site. */
export interface Foreseen extends Policy {
	/** Undefined where nothing goes, whatever its age. */
	before: Date | undefined;
	rows: number;
	/** An estimate of what the rows have on disk, without indexes; of studies the size of their images. */
	bytes: number;
	/** The time of the oldest row, which of a study is its last change; undefined if nothing goes. */
	oldest: Date | undefined;
	/** Studies whose time is over and that a legal hold keeps. */
	held: number;
}

type Counts = Record<'rows' | 'bytes', string> & { oldest: Date | null; held?: string };

/** Counts what a run would remove, and removes nothing. */
export async function foresee(
	database: ConnectionPool,
	sites: readonly KeptSite[],
	{ limits, nowMs }: { limits: RetentionLimits; nowMs: number },
): Promise<Foreseen[]> {
	const foreseen: Foreseen[] = [];
	for (const site of sites) {
		for (const kept of keptOf(site)) {
			const policy = policyOf(kept, site, limits);
			const before = cutoffOf(policy, nowMs);
			const counts = before === undefined ? undefined : await counted(database, kept, site, before);
			foreseen.push({
				...policy,
				before,
				rows: Number(counts?.rows ?? 0),
				bytes: Number(counts?.bytes ?? 0),
				oldest: counts?.oldest ?? undefined,
				held: Number(counts?.held ?? 0),
			});
		}
	}
	return foreseen;
}

async function counted(database: ConnectionPool, kept: KeptName, site: KeptSite, before: Date): Promise<Counts | undefined> {
	const statement = kept === 'studies' ? countOldStudies : keptRows[kept].count;
	const [row] = await database.rows<Counts>(statement, [site.id, before]);
	return row;
}
