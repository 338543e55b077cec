import { Failure } from '#core/failure.ts';

/**
 * The way to go on after a failed transaction.
 * `row`: the database refuses what is written, and would again.
 * `repeat`: the same transaction may succeed later, on the same connection.
 * `connection`: the connection is of no more use; whether the transaction was committed is open if its COMMIT had been sent.
 * `unknown`: nothing that is certainly the fault of what was written.
 */
export type Trouble = 'row' | 'repeat' | 'connection' | 'unknown';

/** Keys are SQLSTATEs and their classes (PostgreSQL, Appendix A). This is the only such table: whoever judges an error of the database asks `troubleOf`. */
const troubles: Readonly<Record<string, Trouble>> = {
	/** Connection exception. */
	'08': 'connection',
	/** A plan that was made before a table changed, and statements that the connection does not know: a new connection prepares them anew. */
	'0A000': 'connection',
	'26000': 'connection',
	/** Data exception. */
	22: 'row',
	/** Integrity constraint violation. */
	23: 'row',
	/** The server only reads: it is a standby, or about to become one. */
	25006: 'connection',
	/** The server ended a transaction in which nothing was said for too long, and the connection with it. */
	'25P03': 'connection',
	/** Transaction rollback: serialization failure, deadlock. */
	40: 'repeat',
	/** Whether the statement was completed is unknown. */
	40003: 'connection',
	/** A statement that nobody can carry out, such as one that is made for the condition of a request, whatever the state of the database. */
	42601: 'row',
	/** Insufficient resources: disk full, out of memory, too many connections. */
	53: 'repeat',
	/** Program limit exceeded: an index entry or a row over its size. */
	54: 'row',
	/** A lock that was not had in time. */
	'55P03': 'repeat',
	/** The statement took longer than `statement_timeout`, or somebody cancelled it. */
	57014: 'repeat',
	/** The server stops, has crashed, or takes nobody yet. */
	'57P': 'connection',
	/** System error: input and output. */
	58: 'repeat',
};

/** Errors of the driver have no code. */
const ofTheDriver = /connection|terminated|timeout|closed/i;
/** Errors of the operating system: ECONNRESET, EPIPE, EAI_AGAIN. */
const ofTheSystem = /^(?!ERR_)E[A-Z_]+$/;

export function troubleOf(error: unknown): Trouble {
	if (error instanceof Failure) return error.code === 'unavailable' ? 'connection' : 'unknown';
	if (error instanceof RolledBack) return 'repeat';
	const state = stateOf(error);
	if (state === undefined) return error instanceof Error && ofTheDriver.test(error.message) ? 'connection' : 'unknown';
	if (ofTheSystem.test(state)) return 'connection';
	return troubles[state] ?? troubles[state.slice(0, 3)] ?? troubles[state.slice(0, 2)] ?? 'unknown';
}

/** The SQLSTATE of an error, or the code that the operating system gave it. */
export function stateOf(error: unknown): string | undefined {
	const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
	return typeof code === 'string' ? code : undefined;
}

/** Tells whether the statement was only refused because one before it in the transaction had failed. */
export function isConsequence(error: unknown): boolean {
	return stateOf(error) === '25P02';
}

/** Tells whether the site was closed to writers while its turn was asked for, because it moves to another database. */
export function isTurnClosed(error: unknown): boolean {
	return stateOf(error) === 'TR001';
}

/** Tells whether a connection for reads was asked to write. */
export function isReadOnly(error: unknown): boolean {
	return stateOf(error) === '25006';
}

/** PostgreSQL answers the COMMIT of a transaction that it has given up with `ROLLBACK`, and without an error. */
export class RolledBack extends Error {}

/** @throws RolledBack unless the answer to a COMMIT says that it was carried out */
export function checkCommitted(command: string): void {
	if (command !== 'COMMIT') throw new RolledBack(`the transaction ended with ${command}`);
}
