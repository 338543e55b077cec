import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { checkCommitted, RolledBack, type Trouble, troubleOf } from '#storage/sqlstate.ts';

const coded = (code: string, message = 'an error of the database') => Object.assign(new Error(message), { code });

const cases: [what: string, error: unknown, trouble: Trouble][] = [
	['a date out of range', coded('22008'), 'row'],
	['a NUL in a text', coded('22021'), 'row'],
	['a unique key', coded('23505'), 'row'],
	['a check', coded('23514'), 'row'],
	['an index entry over its size', coded('54000'), 'row'],
	['a statement that cannot be read', coded('42601'), 'row'],
	['a table that is not there yet', coded('42P01'), 'unknown'],
	['a statement with too many columns', coded('54011'), 'row'],
	['a serialization failure', coded('40001'), 'repeat'],
	['a deadlock', coded('40P01'), 'repeat'],
	['a full disk', coded('53100'), 'repeat'],
	['no memory', coded('53200'), 'repeat'],
	['too many connections', coded('53300'), 'repeat'],
	['a lock that was not had in time', coded('55P03'), 'repeat'],
	['a statement that took too long, or was cancelled', coded('57014'), 'repeat'],
	['a disk that does not read', coded('58030'), 'repeat'],
	['a commit whose completion is unknown', coded('40003'), 'connection'],
	['a server that stops', coded('57P01'), 'connection'],
	['a server that starts', coded('57P03'), 'connection'],
	['a connection exception', coded('08006'), 'connection'],
	['a standby', coded('25006'), 'connection'],
	['a plan from before a migration', coded('0A000', 'cached plan must not change result type'), 'connection'],
	['a statement that a pooler lost', coded('26000'), 'connection'],
	['a socket that is reset', coded('ECONNRESET'), 'connection'],
	['a name that is not resolved for now', coded('EAI_AGAIN'), 'connection'],
	["the driver's time-out, which has no SQLSTATE", new Error('Query read timeout'), 'connection'],
	['a connection that ended', new Error('Connection terminated unexpectedly'), 'connection'],
	['a client that was closed', new Error('Client was closed and is not queryable'), 'connection'],
	['a database that cannot be reached', new Failure('unavailable', 'the database cannot be reached'), 'connection'],
	['a COMMIT that was answered ROLLBACK', new RolledBack('the transaction ended with ROLLBACK'), 'repeat'],
	['a table that is not there', coded('42P01'), 'unknown'],
	['an internal error of the server', coded('XX000'), 'unknown'],
	['a damaged page', coded('XX001'), 'unknown'],
	['a fault of this code', new TypeError("Cannot read properties of undefined (reading 'id')"), 'unknown'],
	['a wrong argument', coded('ERR_INVALID_ARG_TYPE'), 'unknown'],
	['a failure that is not of the database', new Failure('internal', 'the connection is odd'), 'unknown'],
	['what is no error', undefined, 'unknown'],
];

for (const [what, error, trouble] of cases) {
	test(`${what}: ${trouble}`, () => {
		assert.equal(troubleOf(error), trouble);
	});
}

test('only COMMIT says that a transaction was carried out', () => {
	checkCommitted('COMMIT');
	assert.throws(() => checkCommitted('ROLLBACK'), RolledBack);
});
