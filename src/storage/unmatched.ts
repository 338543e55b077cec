import type { Log } from '#core/log.ts';
import { RepeatedTrouble } from '#core/repeated.ts';
import type { Connection } from './connection.ts';
import type { StorageLimits } from './limits.ts';
import type { StorageMetrics } from './metrics.ts';
import { troubleOf } from './sqlstate.ts';
import { insertUnmatched } from './statements/insert-unmatched.ts';

/**
 * A message that belongs to no site: the address matches a client, but MSH-3/MSH-4 do not (`no-sender`), or two sites match equally well. Or an
 * association whose AE titles nobody knows.
 */
export interface UnmatchedMessage {
	id: string;
	receivedAtMs: number;
	surface: 'mllp' | 'dimse';
	/** The sender's address. */
	source: string;
	/** DIMSE: no site has the called AE title, or no client of its site has the calling one. */
	reason: 'no-sender' | 'tie' | 'called' | 'calling';
	messageType: string;
	controlId: string;
	/** The only site that it can be meant for, if there is one. */
	siteId?: string | undefined;
	sendingApplication?: string;
	sendingFacility?: string;
	calledAe?: string;
	callingAe?: string;
	/** An association has none. */
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
	const away = new RepeatedTrouble(log, 'unmatched messages wait to be logged');

	function done(message: UnmatchedMessage, result: 'logged' | 'dropped'): void {
		bytes -= message.bytes.length;
		metrics.unmatchedMessages.inc({ reason: message.reason, result });
	}

	async function insert(message: UnmatchedMessage): Promise<void> {
		const { id, receivedAtMs, surface, source, reason, messageType, controlId, siteId } = message;
		const named = [message.sendingApplication, message.sendingFacility, message.calledAe, message.callingAe];
		await connection.open();
		const received = new Date(receivedAtMs).toISOString();
		const values = [id, received, surface, source, reason, text(messageType), text(controlId), message.bytes, siteId ?? null];
		await connection.run(insertUnmatched, [...values, ...named.map((name) => (name === undefined ? null : text(name)))]);
	}

	/** Tells whether the message needs no further attempt. */
	async function attempt(message: UnmatchedMessage): Promise<boolean> {
		try {
			await insert(message);
			done(message, 'logged');
			away.over();
			return true;
		} catch (error) {
			const trouble = troubleOf(error);
			if (trouble === 'repeat' || trouble === 'connection') {
				away.happened(error, { trouble });
				return false;
			}
			log.error({ err: error, trouble }, 'unmatched message not logged');
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
