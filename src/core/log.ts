import { type DestinationStream, type Logger, pino } from 'pino';
import { Failure } from './failure.ts';

export type Log = Logger;

/** Node's own errors (ECONNREFUSED, ERR_…) and our failures describe the error without quoting input. */
const safeCode = /^(E[A-Z]+|ERR_[A-Z_]+)$/;

/**
 * Returns the loggable form of an error. The text of any other error may quote the data on which it failed (PostgreSQL: `invalid input
 * syntax for
 * type date: "…"`; JSON.parse: a piece of the text). So only its type, its SQLSTATE, the schema objects that it names, and its stack are
 * kept.
 */
function loggableError(error: unknown): object {
	if (!(error instanceof Error)) return { type: typeof error };
	const { code, table, column, constraint } = error as { code?: unknown; table?: unknown; column?: unknown; constraint?: unknown };
	const isSafe = error instanceof Failure || (typeof code === 'string' && safeCode.test(code));
	return {
		type: error.name,
		...(isSafe ? { message: error.message } : {}),
		...Object.fromEntries(Object.entries({ code, table, column, constraint }).filter(([, value]) => typeof value === 'string')),
		stack: error.stack
			?.split('\n')
			.filter((line) => /^ +at /.test(line))
			.slice(0, 12),
		...(error.cause === undefined ? {} : { cause: loggableError(error.cause) }),
	};
}

/**
 * Structured JSON logs on stdout. Rule for every caller: site, client, control id, event, failure code,
 * milliseconds; never a message, a field of it or a patient's data.
 */
export function createLog(level: string, destination?: DestinationStream): Log {
	const options = {
		level,
		base: null,
		serializers: { err: loggableError },
		timestamp: pino.stdTimeFunctions.isoTime,
		formatters: { level: (label: string) => ({ level: label }) },
	};
	return destination ? pino(options, destination) : pino(options);
}

export const silentLog: Log = pino({ level: 'silent' });
