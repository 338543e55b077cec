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

/** Between two notes of how far a run has come; also how soon a cancelled one stops. */
const noteMs = 500;
/** Tries to deliver a message while the service cannot store, a second apart. */
const triesMax = 60;

/**
 * Replays of many messages that this node carries out, one message after the other. They go on when whoever started them goes
 * away, and end with the node; what they have done is in the database, so that any node tells.
 */
export class ReplayRuns implements ReplayStarter {
	readonly #log: Log;
	readonly #stop = new AbortController();
	readonly #running = new Set<Promise<void>>();

	constructor(log: Log) {
		this.#log = log;
	}

	/** @throws AdministrationError while another one of the site is under way */
	async start(context: OperationContext, { siteId, cause, messageIds }: NewRun): Promise<string> {
		const { database } = context;
		await database.rows(interruptSilentRuns, []);
		const id = newId(context.nowMs());
		const rows = await database.rows(insertRun, [siteId, id, context.actor.name, JSON.stringify(cause), messageIds]);
		if (rows.length === 0) throw new AdministrationError('a replay of this site is under way; wait for its end, or cancel it', 'conflict');
		const run: Run = { context, siteId, id, counts: { done: 0, accepted: 0, refused: 0, other: 0, skipped: 0 } };
		const work = this.#carryOut(run, messageIds).catch((error: unknown) =>
			this.#log.error({ err: error, siteId, runId: id }, 'a replay ended without a note'),
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
			await this.#finish(run, 'failed', known ? error.message : 'an internal error; the log of the service has it');
		}
	}

	/** How it ended; undefined when it was cancelled, which is noted already. */
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

	/** Undefined when the node ends first. */
	async #replay({ context, siteId }: Run, messageId: string): Promise<'accepted' | 'refused' | 'other' | 'skipped' | undefined> {
		for (let tries = 1; ; tries++) {
			try {
				// Asked again before every attempt: one may have come to its end though its answer was lost.
				if ((await context.database.rows(isOpenMessage, [siteId, messageId])).length === 0) return 'skipped';
				const { outcome } = await replayMessage(context, messageId);
				return outcome === 'accepted' || outcome === 'refused' ? outcome : 'other';
			} catch (error) {
				if (!(error instanceof Failure) || error.code !== 'unavailable' || tries === triesMax) throw error;
				if (!(await this.#pause())) return undefined;
			}
		}
	}

	/** A second; false when the node ends meanwhile. */
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

	/** Ends what is under way behind its current message. */
	async close(): Promise<void> {
		this.#stop.abort();
		await Promise.all(this.#running);
	}
}
