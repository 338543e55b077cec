import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Journal, noCounts } from '#administration/imports/journal.ts';
import { ImportRun, settled } from '#administration/imports/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'tributary-journal-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const of = { import: 'test' };
const opened = (name: string) => Journal.open(join(folder, name), of, { isDry: false });

describe('the journal of an import', () => {
	test('of which a run goes on in the middle of a unit says in the end that the unit is settled', async () => {
		const options = { journal: join(folder, 'resumed'), isDry: false, rate: undefined, progress: () => undefined };
		const first = await ImportRun.open(of, options);
		await first.note('file', settled({ taken: 64 }), 64);
		await first.journal.close();

		const second = await ImportRun.open(of, options);
		const { at, counts } = second.journal.settledIn('file');
		assert.deepEqual([at, counts], [64, { ...noCounts, taken: 64 }]);
		await second.note('file', settled({ ...counts, taken: 100 }));
		assert.deepEqual(second.journal.total, { ...noCounts, taken: 100 });
		await second.journal.close();

		const third = await opened('resumed');
		assert.equal(third.isDone('file'), true);
		assert.deepEqual(third.total, { ...noCounts, taken: 100 });
		await third.close();
	});

	test('is read whole, with lines of many reads and one that a kill cut off', async () => {
		const journal = await opened('long');
		const name = (number: number) => `folder/é-${number}-${'x'.repeat(number % 300)}`;
		for (let number = 0; number < 2000; number++) await journal.note({ unit: name(number), ...noCounts, taken: 1 });
		await journal.note({ unit: 'open', ...noCounts, taken: 5, at: 5 });
		await journal.close();
		const text = readFileSync(join(folder, 'long'), 'utf8');
		appendFileSync(join(folder, 'long'), '{"unit":"open","taken":6,"kno');
		for (let run = 0; run < 3; run++) {
			const again = await opened('long');
			assert.deepEqual(again.total, { ...noCounts, taken: 2005 });
			for (let number = 0; number < 2000; number++) assert.ok(again.isDone(name(number)), name(number));
			assert.equal(again.settledIn('open').at, 5);
			await again.close();
		}
		assert.ok(readFileSync(join(folder, 'long'), 'utf8').startsWith(text), 'nothing of it is lost');
	});

	test('of another import is refused', async () => {
		await (await opened('other')).close();
		await assert.rejects(Journal.open(join(folder, 'other'), { import: 'else' }, { isDry: false }), /is the journal of another import/);
	});
});
