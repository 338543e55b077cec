import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import { systemTimers } from '#core/timers.ts';
import type { Connection } from '../connection.ts';
import { plainArray, textArray } from '../statement.ts';
import { addFeedHours, setFeedQueues } from '../statements/write-feed-hours.ts';
import { type FeedCounts, type FeedMinute, hoursOf } from './counts.ts';

/**
 * A killed process loses at most what it counted in this time. Figures need no more, and one statement each time costs nothing, so it is no
 * setting.
 */
export const feedFlushMs = 5000;

/** Rows of one statement; a bound for an hour in which very many feeds sent. */
const rowsMax = 1000;

/** Messages of a sender that wait in the mailboxes of this process. */
export interface FeedQueue {
	siteId: string;
	feed: string;
	waiting: number;
}

export interface FeedHours {
	/** Writes what was counted. It is tried again with the next one if the database does not take it. */
	flush(): Promise<void>;
	close(): Promise<void>;
}

const instant = (ms: number) => new Date(ms).toISOString();
const literal = (values: readonly number[]) => `{${values.join(',')}}`;

/**
 * Writes every few seconds what this process has counted. If a connection breaks after the statement was sent, nobody knows whether it was
 * carried out; it is then written again, and these seconds may be counted twice.
 */
export function keepFeedHours(options: {
	connection: Pick<Connection, 'open' | 'run'>;
	counts: FeedCounts;
	queues(): readonly FeedQueue[];
	/** Is told of each minute once, when it is written. */
	onWritten?(minutes: readonly FeedMinute[]): void;
	log: Log;
}): FeedHours {
	const { connection, counts, queues, onWritten, log } = options;
	const process = newId();
	let told = false;
	/** Mailboxes are empty nearly always; then nothing is said. */
	async function tellQueues(): Promise<void> {
		const waiting = queues();
		if (waiting.length === 0 && !told) return;
		const values = [plainArray(waiting.map(({ siteId }) => siteId)), textArray(waiting.map(({ feed }) => feed)), process];
		await connection.run(setFeedQueues, [...values, plainArray(waiting.map((queue) => queue.waiting))]);
		told = waiting.length > 0;
	}
	async function write(): Promise<void> {
		const minutes = counts.take();
		const rows = hoursOf(minutes);
		const written = new Set<string>();
		const isWritten = ({ siteId, feed, minute }: FeedMinute) => written.has(`${siteId} ${feed} ${Math.floor(minute / 60) * 3_600_000}`);
		try {
			if (rows.length > 0) await connection.open();
			for (let from = 0; from < rows.length; from += rowsMax) {
				const part = rows.slice(from, from + rowsMax);
				await connection.run(addFeedHours, [
					plainArray(part.map(({ siteId }) => siteId)),
					textArray(part.map(({ feed }) => feed)),
					plainArray(part.map(({ hourMs }) => instant(hourMs))),
					plainArray(part.map(({ receivedSum }) => receivedSum)),
					plainArray(part.map(({ refusedSum }) => refusedSum)),
					plainArray(part.map(({ lastMs }) => instant(lastMs))),
					textArray(part.map(({ received }) => literal(received))),
					textArray(part.map(({ refused }) => literal(refused))),
					textArray(part.map(({ acknowledged }) => literal(acknowledged))),
				]);
				for (const { siteId, feed, hourMs } of part) written.add(`${siteId} ${feed} ${hourMs}`);
			}
			await tellQueues();
		} catch (error) {
			// The database is away, which an alert of its own reports. What was not written waits.
			log.debug({ err: error }, 'the figures of feeds could not be written');
			counts.putBack(minutes.filter((minute) => !isWritten(minute)));
		}
		onWritten?.(minutes.filter(isWritten));
	}
	let last = Promise.resolve();
	const flush = () => {
		last = last.then(write);
		return last;
	};
	const timer = systemTimers.every(feedFlushMs, () => void flush());
	return {
		flush,
		async close() {
			timer.stop();
			await flush();
		},
	};
}
