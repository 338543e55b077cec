import { setTimeout } from 'node:timers/promises';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import { isOpenMessage } from '#storage/statements/administrative/failures.ts';
import { advanceRun, finishRun, insertRun, interruptSilentRuns } from '#storage/statements/administrative/replay-runs.ts';
import { AdministrationError, type NewRun, type OperationContext, type ReplayStarter } from './context.ts';
import { replayMessage } from './messages.ts';

interface Run {
	context: OperationContext;
	siteId: string;
	id: string;
	counts: { done: number; accepted: number; refused: number; other: number; skipped: number };
}

/** The progress of a run is recorded this often. A cancelled run stops within the same time. */
const noteMs = 500;
/** Limits how often delivery is tried, one second apart, while the service cannot store. */
const triesMax = 60;

/**
 * The replay runs of this node. Each run replays its messages one at a time. It continues after its caller leaves, and ends with the
 * node. Its progress is in the database, where every node can read it.
 */
export class ReplayRuns implements ReplayStarter {
	readonly #log: Log;
	readonly #stop = new AbortController();
	readonly #running = new Set<Promise<void>>();

	constructor(log: Log) {
		this.#log = log;
	}

	/** @throws AdministrationError while another replay of the site is running */
	async start(context: OperationContext, { siteId, cause, messageIds }: NewRun): Promise<string> {
		const { database } = context;
		await database.rows(interruptSilentRuns, []);
		const id = newId(context.nowMs());
		const rows = await database.rows(insertRun, [siteId, id, context.actor.name, JSON.stringify(cause), messageIds]);
		if (rows.length === 0) throw new AdministrationError('a replay of this site is running; wait until it ends, or cancel it', 'conflict');
		const run: Run = { context, siteId, id, counts: { done: 0, accepted: 0, refused: 0, other: 0, skipped: 0 } };
		const work = this.#carryOut(run, messageIds).catch((error: unknown) =>
			this.#log.error({ err: error, siteId, runId: id }, 'the end of a replay could not be recorded'),
		);
		this.#running.add(work);
		void work.then(() => this.#running.delete(work));
		return id;
	}

	async #carryOut(run: Run, messageIds: readonly string[]): Promise<void> {
		try {
			const end = await this.#deliverAll(run, messageIds);
			if (end !== undefined) await this.#finish(run, end, null);
		} catch (error) {
			this.#log.error({ err: error, siteId: run.siteId, runId: run.id }, 'a replay failed');
			const known = error instanceof Failure || error instanceof AdministrationError;
			await this.#finish(run, 'failed', known ? error.message : 'an internal error; see the log of the service');
		}
	}

	/** Returns how the run ended, or undefined if it was cancelled, which is already recorded. */
	async #deliverAll(run: Run, messageIds: readonly string[]): Promise<'done' | 'interrupted' | undefined> {
		const { signal } = this.#stop;
		let notedMs = performance.now();
		for (const messageId of messageIds) {
			if (signal.aborted) return 'interrupted';
			const outcome = await this.#replay(run, messageId);
			if (outcome === undefined) return 'interrupted';
			run.counts.done++;
			run.counts[outcome]++;
			if (performance.now() - notedMs < noteMs) continue;
			if (!(await this.#note(run))) return undefined;
			notedMs = performance.now();
		}
		return (await this.#note(run)) ? 'done' : undefined;
	}

	/** Returns undefined if the node ends first. */
	async #replay({ context, siteId }: Run, messageId: string): Promise<'accepted' | 'refused' | 'other' | 'skipped' | undefined> {
		for (let tries = 1; ; tries++) {
			try {
				// This is checked before every attempt: an earlier one may have succeeded although its answer was lost.
				if ((await context.database.rows(isOpenMessage, [siteId, messageId])).length === 0) return 'skipped';
				const { outcome } = await replayMessage(context, messageId);
				return outcome === 'accepted' || outcome === 'refused' ? outcome : 'other';
			} catch (error) {
				if (!(error instanceof Failure) || error.code !== 'unavailable' || tries === triesMax) throw error;
				if (!(await this.#pause())) return undefined;
			}
		}
	}

	/** Waits a second. Returns false if the node ends in the meantime. */
	async #pause(): Promise<boolean> {
		const { signal } = this.#stop;
		try {
			await setTimeout(1000, undefined, { signal });
		} catch (error) {
			if (!signal.aborted) throw error;
		}
		return !signal.aborted;
	}

	async #note({ context, siteId, id, counts: { done, accepted, refused, other, skipped } }: Run): Promise<boolean> {
		return (await context.database.rows(advanceRun, [siteId, id, done, accepted, refused, other, skipped])).length > 0;
	}

	async #finish(run: Run, state: 'done' | 'interrupted' | 'failed', failure: string | null): Promise<void> {
		await this.#note(run);
		await run.context.database.rows(finishRun, [run.siteId, run.id, state, failure]);
	}

	/** Ends the running replays after their current message. */
	async close(): Promise<void> {
		this.#stop.abort();
		await Promise.all(this.#running);
	}
}
