import { reachOf, type Session, type Sessions } from '#access/sessions.ts';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import type { Quotas } from '#core/node-line.ts';
import { type Stoppable, systemTimers } from '#core/timers.ts';
import type { AdminLimits } from '../limits.ts';
import type { AdminMetrics } from '../metrics.ts';
import type { Figures } from './figures.ts';

/** A stream ends at most this long after its session. */
const sessionCheckMs = 500;
/** A comment at this interval keeps the connection from looking idle. */
const keepAliveMs = 4000;
/** How soon a browser connects again; the stream tells it. */
const retryMs = 5000;

/** The events of a stream. */
export interface LiveFeed {
	/** The time between two calls of `next`, unless a point of the figures comes before. */
	turnMs?: number;
	/** Returns events, or an empty text if there is nothing new. A slow browser delays the next call; nothing is kept for it. */
	next(): string | Promise<string>;
}

interface Watcher {
	/** The digest, reach and user of the session when the stream began. The stream ends when they no longer match. */
	digest: string;
	reach: string;
	userId: string;
	wake(): void;
	ended: boolean;
}

export interface WatchersOptions {
	sessions: Sessions;
	limits: AdminLimits;
	/** The limits are those of the node. */
	quotas: Quotas;
	metrics: AdminMetrics;
	log: Log;
}

const quota = 'live watchers';
const quotaOf = (userId: string) => `live watchers of ${userId}`;

/**
 * The open streams of live figures. One statement checks the sessions of all of them. The sites that a stream shows are fixed when
 * it begins. A stream also ends when its user gets other sites; the browser then opens a new one.
 */
export class Watchers {
	readonly #open = new Set<Watcher>();
	readonly #options: WatchersOptions;
	readonly #timer: Stoppable;
	#checking = false;

	constructor(options: WatchersOptions, figures: Figures) {
		this.#options = options;
		this.#timer = systemTimers.every(sessionCheckMs, () => void this.#check());
		figures.onPoint(() => {
			for (const watcher of this.#open) watcher.wake();
		});
	}

	/** @throws Failure `unavailable` when too many are open */
	async stream(session: Session, feed: LiveFeed): Promise<AsyncIterable<Uint8Array>> {
		const { digest, userId } = session;
		// A stream takes its room when it begins, because a browser that is gone by then never ends it.
		if (!(await this.#takeRoom(userId))) throw new Failure('unavailable', 'too many live views are open', { retryAfterSeconds: 10 });
		this.#giveRoom(userId);
		const watcher = { digest: digest.toString('hex'), reach: reachOf(session), userId, wake: () => undefined, ended: false };
		return this.#events(watcher, feed);
	}

	/** One user has fewer streams than all together, so that nobody can take every place. */
	async #takeRoom(userId: string): Promise<boolean> {
		const { limits, quotas } = this.#options;
		if (!(await quotas.take(quota, limits.liveWatchersMax))) return false;
		const isTaken = await quotas.take(quotaOf(userId), limits.liveWatchersOfUserMax);
		if (!isTaken) quotas.give(quota);
		return isTaken;
	}

	#giveRoom(userId: string): void {
		this.#options.quotas.give(quota);
		this.#options.quotas.give(quotaOf(userId));
	}

	async *#events(watcher: Watcher, { turnMs = keepAliveMs, next }: LiveFeed): AsyncIterable<Uint8Array> {
		// Other streams may have begun since this one was admitted.
		if (!(await this.#takeRoom(watcher.userId))) return;
		this.#open.add(watcher);
		this.#options.metrics.liveWatchers.set(this.#open.size);
		try {
			yield encode(`retry: ${retryMs}\n\n`);
			let silentMs = 0;
			while (!watcher.ended) {
				const events = await next();
				silentMs = events === '' ? silentMs + turnMs : 0;
				// The session may have ended while the events were read.
				if (watcher.ended) return;
				if (events !== '') yield encode(events);
				else if (silentMs >= keepAliveMs) {
					silentMs = 0;
					yield encode(': \n\n');
				}
				if (!watcher.ended) await turnOf(watcher, turnMs);
			}
		} finally {
			this.#open.delete(watcher);
			this.#giveRoom(watcher.userId);
			this.#options.metrics.liveWatchers.set(this.#open.size);
		}
	}

	async #check(): Promise<void> {
		if (this.#checking || this.#open.size === 0) return;
		this.#checking = true;
		try {
			const held = await this.#options.sessions.held([...this.#open].map(({ digest }) => digest));
			for (const watcher of this.#open) if (held.get(watcher.digest) !== watcher.reach) end(watcher);
		} catch (error) {
			// A stream whose session cannot be checked must not show anything more.
			this.#options.log.warn({ err: error }, 'the sessions of watchers could not be checked; their streams end');
			for (const watcher of this.#open) end(watcher);
		} finally {
			this.#checking = false;
		}
	}

	/** Ends all streams. */
	close(): void {
		this.#timer.stop();
		for (const watcher of this.#open) end(watcher);
	}
}

function end(watcher: Watcher): void {
	watcher.ended = true;
	watcher.wake();
}

/** Resolves at the next point, at the end of the stream, or when a comment is due. */
function turnOf(watcher: Watcher, turnMs: number): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, turnMs);
		watcher.wake = () => {
			clearTimeout(timer);
			resolve();
		};
	});
}

export function event(name: string, data: object): string {
	return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

const encoder = new TextEncoder();
const encode = (text: string): Uint8Array => encoder.encode(text);
