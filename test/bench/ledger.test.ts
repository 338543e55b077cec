import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { LedgerClient, ledgerSites } from '#test/support/ledger/client.ts';
import type { LedgerSite } from '#test/support/ledger/sender.ts';
import { type Answer, faultOf, type StoredWork, verdictOf } from '#test/support/ledger/verdict.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { instanceUids, writeInstances } from '../../bench/load/instances.ts';
import { mllpInJavaScript } from '../../bench/load/mllp-driver.ts';
import { storeInJavaScript } from '../../bench/load/store-driver.ts';
import { countsAsAcknowledged, instancesAsAcknowledged, messagesAsAcknowledged } from '../../bench/suite/books.ts';

const entry = (key: string, answer: Answer, sender = 'one') => ({ sender, key, answer });
const stored = (...keys: string[]): StoredWork[] => keys.map((key, index) => ({ key, position: BigInt(index) }));

describe('the verdict of a ledger', () => {
	const cases: readonly [string, Parameters<typeof verdictOf>, string | undefined][] = [
		['all is there, once, in order', [[entry('a', 'accepted'), entry('b', 'accepted')], stored('a', 'b')], undefined],
		['no answer leaves open whether it is stored', [[entry('a', 'none'), entry('b', 'none')], stored('b')], undefined],
		['an acknowledged one is missing', [[entry('a', 'accepted')], []], '1 lost (a)'],
		['one is there twice', [[entry('a', 'accepted')], stored('a', 'a')], '1 repeated (a)'],
		['a later one of its sender came first', [[entry('a', 'accepted'), entry('b', 'accepted')], stored('b', 'a')], '1 disordered (b)'],
		[
			'senders have no order among each other',
			[[entry('a', 'accepted', 'one'), entry('b', 'accepted', 'two')], stored('b', 'a')],
			undefined,
		],
		['a refused one is there', [[entry('a', 'refused')], stored('a')], '1 contradicted (a)'],
		['one is there that nobody sent', [[], stored('z')], '1 unknown (z)'],
	];
	for (const [title, given, expected] of cases) test(title, () => assert.equal(faultOf(verdictOf(...given)), expected));
});

describe('ledger clients of a service', () => {
	let service: TestService;
	let sites: LedgerSite[];
	before(async () => {
		service = await testService();
		sites = await ledgerSites(service.databaseUrl, 3);
		await new Promise((resolve) => setTimeout(resolve, 1500));
	});
	after(() => service[Symbol.asyncDispose]());

	test('what every kind of sender had acknowledged is stored once and in order, and what is taken away is found lost', async () => {
		const ledger = new LedgerClient(sites, { port: (surface) => service.port(surface) });
		await ledger.run({ count: 5 });
		await ledger.run({ count: 2 });
		assert.deepEqual(
			ledger.entries.filter(({ answer }) => answer !== 'accepted'),
			[],
		);
		const verdict = await ledger.verdict(service.databaseUrl);
		assert.equal(faultOf(verdict), undefined);
		assert.deepEqual([verdict.sent, verdict.acknowledged, verdict.stored], [84, 84, 84]);
		await service.rows("delete from diagnostic_report where filler_number = 'mllp-1-3'");
		await service.rows("update message_log set sequence = 0 where control_id = 'hl7-2-7'");
		const [patient] = await service.rows<{ value: string }>("delete from patient_identifier where value = 'fhir-0-1' returning value");
		const { lost, disordered } = await ledger.verdict(service.databaseUrl);
		assert.deepEqual([lost.sort(), disordered], [[patient?.value, 'mllp-1-3'], ['hl7-2-7']]);
	});

	test('loads in JavaScript are compared with their rows, where there is no compiler', async () => {
		const database = new pg.Client({ connectionString: service.databaseUrl });
		await database.connect();
		const directory = mkdtempSync(join(tmpdir(), 'tributary-bench-'));
		try {
			const addresses = sites.map(({ address }) => address);
			const load = { port: service.port('mllp'), connections: 4, seconds: 0.5, addresses, from: 500, count: 2000 };
			const result = await mllpInJavaScript.run(load);
			assert.ok(result.answered.every((count) => count > 0) && result.notAccepted === 0);
			assert.equal((await messagesAsAcknowledged({ database, sites }, load, result)).isFault, false);
			await service.rows("delete from message_log where control_id = 'MSG000000501'");
			assert.match((await messagesAsAcknowledged({ database, sites }, load, result)).text, /NOT AS ACKNOWLEDGED: 1 lost \(MSG000000501\)/);

			const file = join(directory, 'instances');
			const batch = { batch: 7, count: 12 };
			await writeInstances(file, { ...batch, pixelBytes: 500 });
			const images = { port: service.port('dimse'), called: sites[0]?.aeTitle ?? '', associations: 2, file, echoMs: 5 };
			const stored = await storeInJavaScript.run(images);
			assert.deepEqual([stored.instances, stored.refused], [12, 0]);
			assert.ok(stored.echoP99Ms > 0);
			const siteId = sites[0]?.id ?? '';
			assert.equal((await instancesAsAcknowledged({ database, siteId }, instanceUids(batch))).isFault, false);
			assert.equal((await instancesAsAcknowledged({ database, siteId }, instanceUids({ batch: 8, count: 1 }))).isFault, true);
		} finally {
			rmSync(directory, { recursive: true, force: true });
			await database.end();
		}
	});
});

test('counts may differ by what was under way, and by nothing else', () => {
	assert.equal(countsAsAcknowledged(10, 10, 4).isFault, false);
	assert.equal(countsAsAcknowledged(10, 14, 4).isFault, false);
	assert.equal(countsAsAcknowledged(10, 15, 4).isFault, true);
	assert.equal(countsAsAcknowledged(10, 9, 4).isFault, true);
});
