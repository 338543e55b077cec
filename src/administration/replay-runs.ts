import { setTimeout } from 'node:timers/promises';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import { finishRun, insertRun, keepRun, releaseRun, takeUpRuns } from '#storage/statements/administrative/replay-runs.ts';
import {
	AdministrationError,
	type NewRun,
	type OperationContext,
	type ReplayStarter,
	type RunControl,
	type RunEnd,
	type RunWork,
} from './context.ts';
import { firstProgress, type RederivationTask, type RunProgress } from './rederivation-task.ts';
import { rederivationWork } from './rederivation-work.ts';
import { noneReplayed, type ReplayCounts, replayWork } from './replay-work.ts';

/** Limits how often a step is tried, one second apart, while the service cannot store. */
const triesMax = 60;
/** Whoever is silent for a minute counts as gone. A step may take longer than that while the service cannot store. */
const keptMs = 15_000;

interface TakenUpRun {
	site_id: string;
	id: string;
	attempt: number;
	actor: string;
	started_at: Date;
}
type TakenUp = TakenUpRun &
	(({ kind: 'replay'; message_ids: string[] } & ReplayCounts) | { kind: 'rederivation'; task: RederivationTask; progress: RunProgress });

/**
 * The runs of this node: replays of many messages, and rederivations of times. They continue after their caller leaves. Their progress is in
 * the database, where every node can read it. When their node ends, another one takes them up, or this one when it is there again.
 */
export class ReplayRuns implements ReplayStarter {
	readonly #log: Log;
	readonly #stop = new AbortController();
	readonly #running = new Set<Promise<void>>();

	constructor(log: Log) {
		this.#log = log;
	}

	/** @throws AdministrationError while another run of the site is under way */
	async start(context: OperationContext, run: NewRun): Promise<string> {
		const { database, actor } = context;
		const id = newId(context.nowMs());
		const { siteId } = run;
		const stated =
			run.kind === 'replay'
				? [JSON.stringify(run.cause), run.messageIds, run.kind, null, null]
				: [null, [], run.kind, JSON.stringify(run.task), JSON.stringify(firstProgress)];
		const [row] = await database.rows<{ attempt: number }>(insertRun, [siteId, id, actor.name, ...stated]);
		if (row === undefined) throw new AdministrationError('a replay of this site is running; wait until it ends, or cancel it', 'conflict');
		const work =
			run.kind === 'replay' ? replayWork(run.messageIds, noneReplayed) : rederivationWork(run.task, firstProgress, context.nowMs());
		this.#carryOut(this.#control(context, siteId, id, row.attempt), work);
		return id;
	}

	/** Takes up the runs whose nodes have ended. `open` makes the context; it is asked only when there is one. */
	async takeUp(database: OperationContext['database'], open: () => Promise<OperationContext>): Promise<void> {
		if (this.#stop.signal.aborted) return;
		for (const run of await database.rows<TakenUp>(takeUpRuns, [])) {
			const { site_id: siteId, id, attempt, actor } = run;
			const context = await open();
			const control = this.#control({ ...context, actor: { ...context.actor, name: actor } }, siteId, id, attempt);
			this.#log.info({ siteId, runId: id, kind: run.kind, attempt }, 'a run is taken up');
			this.#carryOut(control, workOf(run));
		}
	}

	/** Resolves when no run is under way on this node. */
	async settled(): Promise<void> {
		await Promise.all(this.#running);
	}

	#carryOut(control: RunControl, work: RunWork): void {
		const { context, siteId, id, attempt } = control;
		const kept = setInterval(() => {
			context.database.rows(keepRun, [siteId, id, attempt]).catch((error: unknown) => {
				this.#log.warn({ err: error, siteId, runId: id }, 'it could not be said that a run is carried out');
			});
		}, keptMs).unref();
		const ended = this.#work(control, work).catch((error: unknown) =>
			this.#log.error({ err: error, siteId, runId: id }, 'the end of a run could not be recorded'),
		);
		this.#running.add(ended);
		void ended.then(() => {
			clearInterval(kept);
			this.#running.delete(ended);
		});
	}

	async #work(control: RunControl, work: RunWork): Promise<void> {
		const { context, siteId, id, attempt } = control;
		const finish = (end: RunEnd | 'failed', failure: string | null) =>
			context.database.rows(finishRun, [siteId, id, end, failure, attempt]);
		try {
			const end = await work(control);
			if (end === 'interrupted') await context.database.rows(releaseRun, [siteId, id, attempt]);
			else await finish(end, null);
		} catch (error) {
			this.#log.error({ err: error, siteId, runId: id }, 'a run failed');
			const known = error instanceof Failure || error instanceof AdministrationError;
			await finish('failed', known ? error.message : 'an internal error; see the log of the service');
		}
	}

	#control(context: OperationContext, siteId: string, id: string, attempt: number): RunControl {
		const { signal } = this.#stop;
		return {
			context,
			siteId,
			id,
			attempt,
			isEnding: () => signal.aborted,
			pause: (ms) => this.#pause(ms),
			persist: (step) => this.#persist(step),
		};
	}

	/** Tries a step again while the service cannot store. Returns undefined if the node ends first. */
	async #persist<T>(step: () => Promise<T>): Promise<T | undefined> {
		for (let tries = 1; ; tries++) {
			try {
				return await step();
			} catch (error) {
				if (!(error instanceof Failure) || error.code !== 'unavailable' || tries === triesMax) throw error;
				if (!(await this.#pause(1000))) return undefined;
			}
		}
	}

	/** Waits. Returns false if the node ends in the meantime. */
	async #pause(ms: number): Promise<boolean> {
		const { signal } = this.#stop;
		try {
			if (ms > 0) await setTimeout(ms, undefined, { signal });
		} catch (error) {
			if (!signal.aborted) throw error;
		}
		return !signal.aborted;
	}

	/** Ends the runs after their current step. */
	async close(): Promise<void> {
		this.#stop.abort();
		await this.settled();
	}
}

function workOf(run: TakenUp): RunWork {
	if (run.kind === 'rederivation') return rederivationWork(run.task, run.progress, run.started_at.getTime());
	const { done, accepted, refused, ignored, known, skipped } = run;
	return replayWork(run.message_ids, { done, accepted, refused, ignored, known, skipped });
}
