import type { Log } from '#core/log.ts';
import type { Connection } from './connection.ts';
import type { StorageLimits } from './limits.ts';
import type { StorageMetrics } from './metrics.ts';
import { troubleOf } from './sqlstate.ts';
import { insertUnmatched } from './statements/insert-unmatched.ts';

/**
 * A message that belongs to no site: the address matches a client, but MSH-3/MSH-4 do not (`no-sender`), or two sites match equally well.
 */
export interface UnmatchedMessage {
	id: string;
	receivedAtMs: number;
	surface: 'mllp';
	/** The sender's address. */
	source: string;
	reason: 'no-sender' | 'tie';
	messageType: string;
	controlId: string;
	bytes: Uint8Array;
}

export interface UnmatchedLog {
	/** Returns at once. A message for which there is no room is counted and dropped. */
	record(message: UnmatchedMessage): void;
	/** Writes the waiting messages, for at most `withinMs`, and stops. */
	close(withinMs: number): Promise<void>;
}

export interface UnmatchedLogOptions {
	connection: Pick<Connection, 'open' | 'run'>;
	limits: Pick<StorageLimits, 'unmatchedMessagesMax' | 'unmatchedBytesMax'>;
	metrics: StorageMetrics;
	log: Log;
	retryMs?: number;
}

/** PostgreSQL's text holds no NUL. */
const text = (value: string) => value.replaceAll('\0', '');

/**
 * The administrators' log of unmatched traffic. The sender was already answered AE and keeps its message. So nothing waits for the database
 * here, and a flood of such messages costs no more than the two limits.
 */
export function createUnmatchedLog({ connection, limits, metrics, log, retryMs = 1000 }: UnmatchedLogOptions): UnmatchedLog {
	const waiting: UnmatchedMessage[] = [];
	let bytes = 0;
	let writing: Promise<void> | undefined;
	let stopped = false;
	let wake: () => void = () => {};

	function done(message: UnmatchedMessage, result: 'logged' | 'dropped'): void {
		bytes -= message.bytes.length;
		metrics.unmatchedMessages.inc({ reason: message.reason, result });
	}

	async function insert(message: UnmatchedMessage): Promise<void> {
		const { id, receivedAtMs, surface, source, reason, messageType, controlId } = message;
		await connection.open();
		const received = new Date(receivedAtMs).toISOString();
		const values = [id, received, surface, source, reason, text(messageType), text(controlId), message.bytes];
		await connection.run(insertUnmatched, values);
	}

	/** Tells whether the message needs no further attempt. */
	async function attempt(message: UnmatchedMessage): Promise<boolean> {
		try {
			await insert(message);
			done(message, 'logged');
			return true;
		} catch (error) {
			const trouble = troubleOf(error);
			log.error({ err: error, trouble }, 'unmatched message not logged');
			if (trouble === 'repeat' || trouble === 'connection') return false;
			done(message, 'dropped');
			return true;
		}
	}

	const pause = () =>
		new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, retryMs);
			wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});

	async function write(): Promise<void> {
		for (let message = waiting[0]; message !== undefined && !stopped; message = waiting[0]) {
			if (await attempt(message)) waiting.shift();
			else await pause();
		}
	}

	function start(): void {
		writing ??= write().finally(() => {
			writing = undefined;
			if (waiting.length > 0 && !stopped) start();
		});
	}

	return {
		record(message) {
			bytes += message.bytes.length;
			if (stopped || waiting.length >= limits.unmatchedMessagesMax || bytes > limits.unmatchedBytesMax) {
				done(message, 'dropped');
				return;
			}
			waiting.push(message);
			start();
		},
		async close(withinMs) {
			const timer = setTimeout(() => {
				stopped = true;
				wake();
			}, withinMs);
			while (writing !== undefined) await writing;
			clearTimeout(timer);
			stopped = true;
			for (const message of waiting.splice(0)) done(message, 'dropped');
		},
	};
}
