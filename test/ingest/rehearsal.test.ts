import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import { batchDatabase } from '#test/support/batch-database.ts';
import { delivery, mergeChange, patientChange } from '#test/support/change-sets.ts';

describe('a rehearsal', () => {
	const suite = batchDatabase();
	const rows = async (text: string, ...values: unknown[]) =>
		(await suite.pool.query({ text, values, rowMode: 'array' })).rows as unknown[][];
	const rehearsed = { rehearsal: true, surface: 'replay', replayOf: newId() } as const;

	test('is answered in its place among messages that are stored, meets what they wrote, and leaves nothing behind', async () => {
		const site = newId();
		const replies = await suite.runner.process([
			delivery(site, '1', [patientChange('A', { gender: 'male' })]),
			delivery(site, '2', [patientChange('B')], rehearsed),
			delivery(site, '3', [patientChange('A'), mergeChange(0, 'C')], rehearsed),
			delivery(site, '4', [patientChange('C')]),
			delivery(site, '5', [patientChange('A', { gender: 'other' })], rehearsed),
		]);
		assert.deepEqual(
			replies.map(({ outcome, controlId }) => `${controlId} ${outcome}`),
			['1 accepted', '2 accepted', '3 accepted', '4 accepted', '5 accepted'],
		);
		assert.deepEqual(await rows('select control_id, sequence from message_log where site_id = $1 order by sequence', site), [
			['1', '1'],
			['4', '2'],
		]);
		assert.deepEqual(await rows('select gender, version from patient where site_id = $1 and gender is not null', site), [['male', 1]]);
		assert.deepEqual(await rows('select sequence from site_turn where site_id = $1', site), [['2']]);
		assert.deepEqual(await rows('select control_id from accepted_message where site_id = $1 order by 1', site), [['1'], ['4']]);
		const [first] = await rows('select count(*)::integer from patient where site_id = $1', site);
		assert.deepEqual(first, [2]);
	});

	test('tells a refusal as the message would get it, and holds nobody up behind it', async () => {
		const site = newId();
		const [refused, accepted] = await suite.runner.process([
			delivery(site, '1', [patientChange('A'), mergeChange(0, 'A')], rehearsed),
			delivery(site, '1', [patientChange('A')]),
		]);
		assert.equal(refused?.failure?.code, 'key-conflict');
		assert.equal(accepted?.outcome, 'accepted');
		assert.deepEqual(await rows('select outcome from message_log where site_id = $1', site), [['accepted']]);
	});
});
