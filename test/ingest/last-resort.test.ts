import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import type { Reply } from '#record/delivery.ts';
import { batchDatabase } from '#test/support/batch-database.ts';
import { delivery, patientChange } from '#test/support/change-sets.ts';

describe('a message that the message log does not take', () => {
	const suite = batchDatabase();
	before(async () => {
		// Each stands for a column or an index to come, for which nobody has thought of a rule.
		await suite.pool.query(`
			create function refuse_row() returns trigger language plpgsql as $$
			begin
				if new.control_id ~ '^(LONG|\\w{21})' then raise exception 'index row size' using errcode = '54000'; end if;
				if position('unloved'::bytea in new.bytes) > 0 then raise exception 'not these bytes' using errcode = '23514'; end if;
				if new.control_id = 'STUCK' then raise exception 'internal error' using errcode = 'XX000'; end if;
				return new;
			end $$;
			create trigger refuse_row before insert on message_log for each row execute function refuse_row()`);
	});

	const logged = async (site: string) =>
		(await suite.pool.query('select control_id, outcome, failure, bytes from message_log where site_id = $1 order by sequence', [site]))
			.rows;
	const outcomes = (replies: readonly (Reply | undefined)[]) => replies.map((reply) => reply?.outcome);

	test('is logged with the offending column cut, and refused alone; its bytes can be replayed', async () => {
		const site = newId();
		const bad = delivery(site, `C${'c'.repeat(40)}`, [patientChange('B')]);
		const batch = [delivery(site, '1', [patientChange('A')]), bad, delivery(site, '2', [patientChange('C')])];
		const replies = await suite.runner.process(batch);
		assert.deepEqual(outcomes(replies), ['accepted', 'refused', 'accepted']);
		assert.deepEqual(replies[1]?.failure, { code: 'internal', diagnostics: 'the message could not be stored' });
		const [, row] = await logged(site);
		assert.equal(row.control_id, `C${'c'.repeat(19)}`);
		assert.equal(row.failure, 'the message could not be stored');
		assert.deepEqual(row.bytes, bad.bytes);
	});

	test('is logged without a word of its own where even a few letters are too many, or its bytes', async () => {
		const site = newId();
		const batch = [
			delivery(site, 'LONG', [patientChange('A')]),
			delivery(site, 'unloved', [patientChange('B')]),
			delivery(site, '2', [patientChange('C')]),
		];
		assert.deepEqual(outcomes(await suite.runner.process(batch)), ['refused', 'refused', 'accepted']);
		assert.deepEqual(
			(await logged(site)).map((row) => [row.control_id, row.outcome, row.bytes.length > 0]),
			[
				['', 'refused', false],
				['', 'refused', false],
				['2', 'accepted', true],
			],
		);
	});

	test('is not answered where the reason is not known; its site waits in order, and other sites go on', async () => {
		const [site, other] = [newId(), newId()];
		const batch = [
			delivery(site, '1', [patientChange('A', { gender: 'male' })]),
			delivery(site, 'STUCK', [patientChange('A', { gender: 'female' })]),
			delivery(other, '1', [patientChange('A')]),
			delivery(site, '2', [patientChange('A', { gender: 'other' })]),
			delivery(other, '2', [patientChange('A', { gender: 'male' })]),
		];
		assert.deepEqual(outcomes(await suite.runner.process(batch)), ['accepted', undefined, 'accepted', undefined, 'accepted']);
		assert.deepEqual(
			(await logged(site)).map((row) => row.control_id),
			['1'],
		);
		await suite.pool.query('alter table message_log disable trigger refuse_row');
		assert.deepEqual(outcomes(await suite.runner.process(batch)), ['duplicate', 'accepted', 'duplicate', 'accepted', 'duplicate']);
		await suite.pool.query('alter table message_log enable trigger refuse_row');
		assert.deepEqual((await suite.pool.query('select gender from patient where site_id = $1', [site])).rows, [{ gender: 'other' }]);
	});
});
