import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { stateOf } from '#storage/sqlstate.ts';
import {
	beginBatch,
	keepFromMoving,
	keepHolds,
	keepMoves,
	keptRows,
	keptSites,
	monthlyTables,
	monthsBefore,
	removeMonth,
} from '#storage/statements/administrative/retention.ts';
import { beginRun, dropOldRuns, endSilentRun, finishRun, seeRun } from '#storage/statements/administrative/retention-runs.ts';
import type { RetentionMeans, RunOrder } from './means.ts';
import { type KeptName, keptNames } from './metrics.ts';
import { cutoffOf, type KeptSite, policyOf } from './policy.ts';
import { deleteOldStudies, removeLeftObjects } from './studies.ts';

/** This went from one site. `site` is null for whole months, which had rows of all sites, and for what belonged to none. */
export interface Removed {
	kept: KeptName;
	site: string | null;
	/** The name of a month that went whole. */
	month: string | null;
	rows: number;
}

export interface FinishedRun {
	id: string;
	removed: readonly Removed[];
}

/** Rows that belong to no site follow the network. */
const ofNoSite: KeptSite = { id: nilId, slug: null, settings: {}, holds: 0, moves: false };
const keptOfNoSite: ReadonlySet<KeptName> = new Set(['unmatched', 'feeds']);

/** Returns all sites with what they say about retention, and what belongs to none. */
export async function readKeptSites(database: ConnectionPool, siteIds: readonly string[] | null): Promise<KeptSite[]> {
	const sites = await database.rows<KeptSite>(keptSites, [siteIds]);
	return siteIds === null ? [...sites, ofNoSite] : sites;
}

/** Says what the rows of a site can be; nothing of a patient belongs to no site. */
export function keptOf(site: KeptSite): readonly KeptName[] {
	return site.id === nilId ? keptNames.filter((kept) => keptOfNoSite.has(kept)) : keptNames;
}

/** PostgreSQL, lock_not_available: somebody reads for long. The month goes with a later run. */
const lockNotAvailable = '55P03';
/** Others may believe that a run has ended when it has not said anything for five minutes. */
const seenMs = 30_000;

/**
 * Carries retention out for the whole network. Returns undefined while another process does, or if one began not long ago.
 * @throws what the database or the object store answers; the run is then noted as failed, and what it had removed stays removed
 */
export async function runRetention(means: RetentionMeans, order: RunOrder): Promise<FinishedRun | undefined> {
	const { database } = means;
	await database.run(endSilentRun, []);
	const id = newId(means.nowMs());
	const begun = await database.run(beginRun, [id, order.by, order.everySeconds]);
	if (begun.length === 0) return undefined;
	const run = new Run(means, order, id);
	try {
		const isWhole = await run.carryOut();
		await database.run(finishRun, [id, JSON.stringify(run.removed), null, isWhole ? 'done' : 'interrupted']);
		await database.run(dropOldRuns, []);
	} catch (error) {
		const failure = error instanceof Failure ? error.diagnostics : `the run failed (${stateOf(error) ?? 'no SQLSTATE'}); the log says why`;
		await database.run(finishRun, [id, JSON.stringify(run.removed), failure, 'failed']);
		throw error;
	}
	return { id, removed: run.removed };
}

/** One run: whole months first, then what is left in batches, then studies. */
class Run {
	readonly removed: Removed[] = [];
	readonly #means: RetentionMeans;
	readonly #order: RunOrder;
	readonly #id: string;
	#seenAtMs = 0;

	constructor(means: RetentionMeans, order: RunOrder, id: string) {
		this.#means = means;
		this.#order = order;
		this.#id = id;
	}

	/** Returns false if it ended early, because the process ends or another one has taken over. */
	async carryOut(): Promise<boolean> {
		try {
			await this.#removeAll();
			return true;
		} catch (error) {
			if (error instanceof EndedEarly) return false;
			throw error;
		}
	}

	async #removeAll(): Promise<void> {
		const { database } = this.#means;
		const sites = await readKeptSites(database, null);
		for (const kept of ['messages', 'history'] as const) await this.#removeMonths(kept, sites);
		for (const site of sites) for (const kept of keptOf(site)) await this.#removeRows(kept, site);
		for (const site of sites) await this.#removeObjects(site);
	}

	/** Drops the months of a table that no site keeps. A site that moves keeps all of its rows. */
	async #removeMonths(kept: keyof typeof monthlyTables, sites: readonly KeptSite[]): Promise<void> {
		const { database, limits, nowMs } = this.#means;
		const ends = sites.filter(({ id }) => id !== nilId).map((site) => ({ site, cutoff: cutoffOf(policyOf(kept, site, limits), nowMs()) }));
		const latest = Math.max(...ends.map(({ cutoff }) => cutoff?.getTime() ?? Number.NEGATIVE_INFINITY));
		if (!Number.isFinite(latest)) return;
		const table = monthlyTables[kept];
		for (const month of await database.rows<{ name: string; until: Date }>(monthsBefore, [table, new Date(latest)])) {
			await this.#goOn();
			const keeping = ends.filter(({ cutoff }) => cutoff === undefined || cutoff < month.until).map(({ site }) => site.id);
			const rows = await this.#dropped(table, month.name, keeping);
			if (rows !== null) this.#note({ kept, site: null, month: month.name, rows });
		}
	}

	async #dropped(table: string, month: string, keeping: readonly string[]): Promise<number | null> {
		try {
			const row = await this.#means.database.transaction(async (client) => {
				await client.query(`set local lock_timeout = '2s'; ${keepHolds}; ${keepMoves}`);
				return (await client.query<{ rows: string | null }>(removeMonth.text, [table, month, keeping])).rows[0];
			});
			return row?.rows == null ? null : Number(row.rows);
		} catch (error) {
			if (stateOf(error) === lockNotAvailable) return null;
			throw error;
		}
	}

	async #removeRows(kept: KeptName, site: KeptSite): Promise<void> {
		const cutoff = cutoffOf(policyOf(kept, site, this.#means.limits), this.#means.nowMs());
		if (cutoff === undefined) return;
		let rows = 0;
		try {
			if (kept === 'studies') {
				for await (const _ of deleteOldStudies(this.#means, this.#order, site, cutoff)) {
					rows += 1;
					await this.#goOn();
				}
				return;
			}
			for await (const batch of this.#removeBatches(kept, site, cutoff)) rows += batch;
		} finally {
			if (rows > 0) this.#note({ kept, site: site.slug, month: null, rows });
		}
	}

	/**
	 * A batch is a transaction of its own, and its number of rows is yielded at once: they are gone even if the run ends early. A pause as long as the
	 * batch took follows, so that retention never has more than half of the disk.
	 */
	async *#removeBatches(kept: keyof typeof keptRows, site: KeptSite, cutoff: Date): AsyncIterable<number> {
		const { database, limits } = this.#means;
		for (const statement of keptRows[kept].remove) {
			for (;;) {
				await this.#goOn();
				const begunMs = performance.now();
				const batch = await database.transaction(async (client) => {
					await client.query(beginBatch(kept));
					if (site.id !== nilId && (await client.query(keepFromMoving.text, [site.id])).rowCount === 0) return 0;
					return (await client.query(statement.text, [site.id, cutoff, limits.retentionBatchRows])).rowCount ?? 0;
				});
				if (batch === 0) break;
				yield batch;
				await pause(performance.now() - begunMs);
			}
		}
	}

	async #removeObjects(site: KeptSite): Promise<void> {
		if (site.id === nilId || site.moves) return;
		for await (const _ of removeLeftObjects(this.#means, site.id)) await this.#goOn();
	}

	#note(removed: Removed): void {
		this.removed.push(removed);
		this.#means.metrics?.retentionRows.inc({ kept: removed.kept }, removed.rows);
	}

	/** Says that the run is under way. @throws EndedEarly */
	async #goOn(): Promise<void> {
		if (this.#order.isEnding()) throw new EndedEarly();
		const nowMs = this.#means.nowMs();
		if (nowMs - this.#seenAtMs < seenMs) return;
		this.#seenAtMs = nowMs;
		const [row] = await this.#means.database.run(seeRun, [this.#id]);
		if (row === undefined) throw new EndedEarly();
	}
}

/** The process ends, or others believed that it had, and a run of theirs is under way. The next run goes on. */
class EndedEarly extends Error {}
