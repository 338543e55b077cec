import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { newId } from '#core/id.ts';
import type { Reply } from '#record/delivery.ts';
import type { Connection } from '#storage/connection.ts';
import { type Trouble, troubleOf } from '#storage/sqlstate.ts';
import type { Statement } from '#storage/statement.ts';
import { batchDatabase } from '#test/support/batch-database.ts';
import { delivery, patientChange } from '#test/support/change-sets.ts';

/** Every class of SQLSTATE (PostgreSQL, Appendix A), and the states that `sqlstate.ts` knows by themselves. */
const classes =
	'01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 F0 HV P0 XX';
const states = [
	...classes.split(' ').map((name) => `${name}000`),
	...'0A000 22001 22021 23502 23505 23514 25006 25P03 40001 40003 40P01 42P01 53100 53200 53300 54000 54011 55P03 57014 57P01 57P02 57P03 58030'.split(
		' ',
	),
	...'08003 08006 XX001 XX002'.split(' '),
];

/** Errors of the driver, of the system and of this code, which have no SQLSTATE. */
const others: Record<string, () => unknown> = {
	'a time-out of the driver': () => new Error('Query read timeout'),
	'an end of the connection': () => new Error('Connection terminated unexpectedly'),
	'a client that was closed': () => new Error('Client was closed and is not queryable'),
	ECONNRESET: () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
	EPIPE: () => Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }),
	ETIMEDOUT: () => Object.assign(new Error('read ETIMEDOUT'), { code: 'ETIMEDOUT' }),
	EAI_AGAIN: () => Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' }),
	'a fault of this code': () => new TypeError("Cannot read properties of undefined (reading 'id')"),
	'a wrong argument': () => Object.assign(new TypeError('the argument is wrong'), { code: 'ERR_INVALID_ARG_TYPE' }),
};
const faults: [what: string, fault: () => unknown][] = [
	...[...new Set(states)].map((state): [string, () => unknown] => [
		`SQLSTATE ${state}`,
		() => Object.assign(new Error('an error of the database'), { code: state }),
	]),
	...Object.entries(others),
];

const phases = ['begin', 'turn', 'read', 'write', 'log', 'commit', 'committed'] as const;
type Phase = (typeof phases)[number];

function phaseOf({ name }: Statement): Phase | undefined {
	if (name === 'take_turns') return 'turn';
	if (name === 'insert_batch' || name === 'forget_batches') return undefined;
	if (name === 'insert_messages' || name === 'insert_accepted') return 'log';
	if (/^(insert|update|write|upsert)_/.test(name)) return 'write';
	return /^(find|read|select)_/.test(name) ? 'read' : undefined;
}

/**
 * Lets one phase fail so many times. As with a server, all statements behind it fail until the transaction is rolled back, and its COMMIT is
 * answered ROLLBACK. In `committed` the COMMIT is carried out, and its answer is lost.
 */
function failing(context: TestContext, connection: Connection, failed: Phase, fault: () => unknown, times: number): () => number {
	let left = times;
	let hasFailed = false;
	const fails = () => {
		hasFailed = left > 0;
		if (hasFailed) left--;
		return hasFailed;
	};
	const passedOver = () => Object.assign(new Error('current transaction is aborted'), { code: '25P02' });
	const run = connection.run.bind(connection);
	const control = connection.control.bind(connection);
	const recover = connection.recover.bind(connection);
	context.mock.method(connection, 'run', async (statement: Statement, values: readonly unknown[]) => {
		if (hasFailed) throw passedOver();
		if (phaseOf(statement) === failed && fails()) throw fault();
		return run(statement, values);
	});
	context.mock.method(connection, 'control', async (command: Parameters<Connection['control']>[0]) => {
		if (hasFailed) return 'ROLLBACK';
		if (command === failed && fails()) throw fault();
		const answer = await control(command);
		if (command === 'commit' && failed === 'committed' && fails()) throw fault();
		return answer;
	});
	context.mock.method(connection, 'recover', (trouble: Trouble) => {
		hasFailed = false;
		return recover(trouble);
	});
	return () => times - left;
}

describe('a fault of the database in a batch', () => {
	const suite = batchDatabase();
	const outcomes = (replies: readonly (Reply | undefined)[]) => replies.map((reply) => reply?.outcome);
	const stored = async (site: string) =>
		(await suite.pool.query('select gender, version from patient where site_id = $1', [site])).rows as {
			gender: string;
			version: number;
		}[];

	/** Messages whose versions tell whether each was applied once and in order. */
	const messages = (site: string) => [
		delivery(site, '1', [patientChange('A', { gender: 'male' })]),
		delivery(site, '2', [patientChange('A', { gender: 'other' })]),
	];

	test('occurs in every phase that a batch has', async (context) => {
		const seen = new Set<Phase>();
		const { connection } = suite.runner;
		await connection.open();
		const run = connection.run.bind(connection);
		context.mock.method(connection, 'run', (statement: Statement, values: readonly unknown[]) => {
			const phase = phaseOf(statement);
			if (phase) seen.add(phase);
			return run(statement, values);
		});
		await suite.runner.process(messages(newId()));
		assert.deepEqual([...seen].sort(), ['log', 'read', 'turn', 'write']);
	});

	for (const [what, fault] of faults) {
		const trouble: Trouble = troubleOf(fault());
		test(`${what} (${trouble}): once, in any phase, and every message is accepted once and in order`, async (context) => {
			for (const phase of phases) {
				const site = newId();
				const sent = messages(site);
				const bitten = failing(context, suite.runner.connection, phase, fault, 1);
				let replies: (Reply | undefined)[] = [];
				try {
					replies = await suite.runner.process(sent);
				} catch (error) {
					assert.equal((error as { code?: unknown }).code, 'unavailable', `${phase}: ${String(error)}`);
				}
				context.mock.restoreAll();
				assert.equal(bitten(), 1, `${phase} was reached`);
				assert.ok(!outcomes(replies).includes('refused'), `${phase}: ${outcomes(replies)}`);
				// A sender that was not answered sends again.
				const again = await suite.runner.process(sent);
				for (const outcome of outcomes(again)) assert.ok(outcome === 'accepted' || outcome === 'duplicate', `${phase}: ${outcome}`);
				assert.deepEqual(await stored(site), [{ gender: 'other', version: 2 }], phase);
			}
		});
	}

	// One fault for each kind of trouble: the others of its kind are treated alike.
	for (const kind of ['row', 'repeat', 'connection', 'unknown'] as const) {
		const [what, fault] = faults.find(([, one]) => troubleOf(one()) === kind) ?? assert.fail(kind);
		test(`${what} (${kind}): for as long as it lasts, ${kind === 'row' ? 'the message is refused' : 'no message is refused'}`, async (context) => {
			for (const phase of ['turn', 'write', 'log'] as const) {
				const site = newId();
				const [first] = messages(site);
				assert.ok(first);
				failing(context, suite.runner.connection, phase, fault, 12);
				let outcome: string | undefined;
				try {
					outcome = (await suite.runner.process([first]))[0]?.outcome;
				} catch (error) {
					assert.equal((error as { code?: unknown }).code, 'unavailable', phase);
				}
				context.mock.restoreAll();
				if (kind === 'row' && phase === 'write') assert.equal(outcome, 'refused');
				else if (kind !== 'row') assert.notEqual(outcome, 'refused', phase);
			}
		});
	}
});
