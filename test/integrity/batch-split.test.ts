import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import type { Delivery } from '#record/delivery.ts';
import type { Change } from '#record/kinds/index.ts';
import { batchDatabase } from '#test/support/batch-database.ts';
import {
	delivery,
	documentChange,
	identifier,
	itemChange,
	mergeChange,
	observationChange,
	patientChange,
} from '#test/support/change-sets.ts';
import { fc, runs } from '#test/support/fuzzing.ts';

const patient = fc.constantFrom('A', 'B', 'C');
const gender = fc.constantFrom('male', 'female', 'other');

/** One message: an update, results, a diagnosis, a document, a merge, its undoing, or two of them. */
const message: fc.Arbitrary<Change[]> = fc.oneof(
	{ weight: 4, arbitrary: fc.tuple(patient, gender).map(([value, sex]) => [patientChange(value, { gender: sex })]) },
	{
		weight: 4,
		arbitrary: fc
			.tuple(patient, fc.constantFrom('O1', 'O2', 'O3'), fc.constantFrom('K1', 'K2'), fc.constantFrom('1', '2'))
			.map(([value, order, item, result]) => [patientChange(value, {}, 'keep'), observationChange(order, item, result)]),
	},
	{
		weight: 4,
		arbitrary: fc
			.tuple(patient, fc.constantFrom('I1', 'I2'), fc.constantFrom('2020', '2021', undefined))
			.map(([value, item, onset]) => [patientChange(value, {}, 'keep'), itemChange(item, onset)]),
	},
	{
		weight: 4,
		arbitrary: fc
			.tuple(patient, fc.constantFrom('S1', 'S2'), fc.constantFrom(1, 2, 3), fc.subarray(['I1', 'I2', 'I3']))
			.map(([value, set, version, items]) => [patientChange(value, {}, 'keep'), documentChange(set, version, items)]),
	},
	{ weight: 2, arbitrary: fc.tuple(patient, patient).map(([survivor, prior]) => [patientChange(survivor), mergeChange(0, prior)]) },
	{
		weight: 1,
		arbitrary: fc
			.tuple(patient, patient)
			.map(([first, second]): Change[] => [{ kind: 'unlink', first: [identifier(first)], second: [identifier(second)] }]),
	},
);

describe('the split of messages into batches', () => {
	const suite = batchDatabase();

	/** All that the site holds, with ids replaced by the order in which they were made. */
	async function stateOf(siteId: string): Promise<string> {
		const texts: string[] = [];
		for (const query of [
			`select id, version, resource, merged_into, gender from patient where site_id = $1 order by id`,
			`select patient_id, value, old, rank from patient_identifier where site_id = $1 order by value, patient_id`,
			`select id, version, resource, patient_id, recorded_patient_id, order_key, item_key from observation where site_id = $1 order by order_key, item_key`,
			`select id, version, resource, patient_id, recorded_patient_id, item_key from condition where site_id = $1 order by id`,
			`select id, version, resource, patient_id, recorded_patient_id, document_key, set_key, set_version, stated_at from document_reference
				where site_id = $1 order by id`,
			`select document_id, item_key, patient_id, resource_id, stated_at, is_current from document_entry where site_id = $1 order by document_id, item_key`,
			`select resource_type, id, version, resource from resource_history where site_id = $1 order by resource_type, id, version`,
			`select sequence, control_id, outcome, failure_code, failure from message_log where site_id = $1 order by sequence`,
		]) {
			texts.push(JSON.stringify((await suite.pool.query({ text: query, values: [siteId], rowMode: 'array' })).rows));
		}
		const names = new Map<string, string>();
		return texts
			.join('\n')
			.replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, (id) => names.get(id) ?? (names.set(id, `#${names.size}`).get(id) as string));
	}

	async function processed(messages: readonly Change[][], sizes: readonly number[]): Promise<string> {
		const siteId = newId();
		const deliveries = messages.map((changes, index): Delivery => delivery(siteId, String(index), changes));
		for (let at = 0, turn = 0; at < deliveries.length; turn++) {
			const size = sizes[turn % sizes.length] ?? 1;
			await suite.runner.process(deliveries.slice(at, at + size));
			at += size;
		}
		return stateOf(siteId);
	}

	test('does not show in what is stored, in the versions or in the answers', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(message, { minLength: 2, maxLength: 10 }),
				fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 4 }),
				async (messages, sizes) => {
					const oneByOne = await processed(messages, [1]);
					assert.equal(await processed(messages, sizes), oneByOne);
					assert.equal(await processed(messages, [messages.length]), oneByOne);
				},
			),
			{ numRuns: runs(80) },
		);
	});
});
