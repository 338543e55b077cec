import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * Structured JSON logs on stdout. Rule for every caller: site, client, control id, event, failure code,
 * milliseconds; never a message, a field of it or a patient's data.
 */
export function createLog(level: string, destination?: DestinationStream): Log {
	const options = {
		level,
		base: null,
		timestamp: pino.stdTimeFunctions.isoTime,
		formatters: { level: (label: string) => ({ level: label }) },
	};
	return destination ? pino(options, destination) : pino(options);
}

export const silentLog: Log = pino({ level: 'silent' });
