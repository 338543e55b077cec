import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import type { JsonObject } from '#core/json.ts';
import { keyDigest } from '#record/key-digest.ts';
import type { Change } from '#record/kinds/index.ts';
import { batchDatabase } from '#test/support/batch-database.ts';
import { delivery, documentChange, identifier, mergeChange, patientChange } from '#test/support/change-sets.ts';

describe('what documents state, in the database', () => {
	const suite = batchDatabase();

	class Site {
		readonly id = newId();
		#sent = 0;

		async send(...changes: Change[]): Promise<string[]> {
			const [reply] = await suite.runner.process([delivery(this.id, `C${++this.#sent}`, changes)]);
			assert.equal(reply?.outcome, 'accepted', reply?.failure?.diagnostics);
			return reply.flags.map(({ code }) => code);
		}

		document(patient: string, set: string, version: number, ...items: string[]): Promise<string[]> {
			return this.send(patientChange(patient, {}, 'keep'), documentChange(set, version, items));
		}

		async rows(text: string): Promise<Record<string, string>[]> {
			return (await suite.pool.query(text, [this.id])).rows;
		}

		/** Of each patient, its conditions: `+a` stands, `-b` is withdrawn. */
		async conditions(): Promise<Record<string, string>> {
			const rows = await this.rows(`select i.value, tributary_whole_text(c.resource) as resource from condition c
				join patient_identifier i on i.site_id = c.site_id and i.patient_id = c.patient_id and not i.old
				where c.site_id = $1 order by i.value, tributary_json(c.resource) -> 'code' ->> 'text'`);
			const found: Record<string, string> = {};
			for (const { value = '', resource = '' } of rows) {
				const { code, verificationStatus } = JSON.parse(resource) as JsonObject;
				found[value] = `${found[value] ?? ''}${verificationStatus === undefined ? '+' : '-'}${(code as JsonObject)['text']}`;
			}
			return found;
		}

		async documents(): Promise<string[]> {
			const rows = await this.rows(`select i.value, d.document_key, d.status from document_reference d
				join patient_identifier i on i.site_id = d.site_id and i.patient_id = d.patient_id and not i.old
				where d.site_id = $1`);
			const names = new Map([...'ST'].flatMap((set) => [1, 2, 3].map((version) => [keyDigest(`${set}.${version}`), `${set}.${version}`])));
			const named = rows.map(({ value, document_key: key = '', status }) => ({ value, name: names.get(key) ?? key, status }));
			const order = (row: { name: string; value?: string | undefined }) => `${row.name} ${row.value}`;
			named.sort((one, other) => (order(one) < order(other) ? -1 : 1));
			return named.map(({ value, name, status }) => `${value} ${name} ${status}`);
		}
	}

	test('is withdrawn, valid again, and shared by the documents that state it', async () => {
		const site = new Site();
		await site.document('A', 'S', 1, 'a', 'b', 'c');
		await site.document('A', 'T', 1, 'b');
		await site.document('B', 'S', 1, 'a');
		assert.deepEqual(await site.conditions(), { A: '+a+b+c', B: '+a' });
		await site.document('A', 'S', 2, 'c');
		assert.deepEqual(await site.conditions(), { A: '-a+b+c', B: '+a' });
		await site.document('A', 'S', 3, 'a');
		assert.deepEqual(await site.conditions(), { A: '+a+b-c', B: '+a' });
		await site.document('A', 'T', 2);
		assert.deepEqual(await site.conditions(), { A: '+a-b-c', B: '+a' });
		assert.deepEqual(await site.document('A', 'S', 2, 'a', 'b', 'c'), ['late-document']);
		assert.deepEqual(await site.conditions(), { A: '+a-b-c', B: '+a' });
		assert.deepEqual(await site.documents(), [
			...['A S.1 superseded', 'B S.1 current', 'A S.2 superseded', 'A S.3 current', 'A T.1 superseded', 'A T.2 current'],
		]);
		const history = await site.rows(`select count(*) from resource_history where site_id = $1 and resource_type = 'Condition'`);
		assert.equal(Number(history[0]?.['count']), 5, 'a version for each change, and none without one');
	});

	test('is found by the items of many documents that were never read themselves', async () => {
		const site = new Site();
		for (let set = 0; set < 12; set++) await site.document('A', `S${set}`, 1 + (set % 9), 'a');
		assert.equal((await site.rows('select id from condition where site_id = $1')).length, 1);
		const [{ resource = '' } = {}] = await site.rows('select tributary_whole_text(resource) as resource from condition where site_id = $1');
		assert.equal(JSON.parse(resource).recordedDate, '2029', 'the latest has the last word');
		for (let set = 0; set < 12; set++) {
			assert.deepEqual(await site.conditions(), { A: '+a' });
			await site.send(patientChange('A', {}, 'keep'), {
				...documentChange(`S${set}`, 1 + (set % 9), []),
				key: `replaced ${set}`,
			} as Change);
		}
		assert.deepEqual(await site.conditions(), { A: '-a' });
	});

	test('moves with a merge and comes back when it is undone', async () => {
		const site = new Site();
		await site.document('A', 'S', 1, 'a', 'b');
		await site.document('B', 'S', 2, 'b', 'c');
		await site.send(patientChange('B'), mergeChange(0, 'A'));
		assert.deepEqual(await site.conditions(), { B: '+a+b+b+c' });
		assert.deepEqual(await site.documents(), ['B S.1 current', 'B S.2 current']);
		await site.send({ kind: 'unlink', first: [identifier('A')], second: [identifier('B')] });
		assert.deepEqual(await site.conditions(), { A: '+a+b', B: '+b+c' });
		await site.document('A', 'S', 2, 'b');
		assert.deepEqual(await site.conditions(), { A: '-a+b', B: '+b+c' });
		await site.send(patientChange('B'), mergeChange(0, 'A'));
		await site.document('A', 'S', 3, 'c');
		assert.deepEqual(await site.documents(), ['B S.1 superseded', 'B S.2 superseded', 'B S.2 superseded', 'B S.3 current']);
		assert.deepEqual(await site.conditions(), { B: '-a-b-b+c' });
	});
});
