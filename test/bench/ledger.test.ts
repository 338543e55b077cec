import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { LedgerClient, ledgerSites } from '#test/support/ledger/client.ts';
import { type Answer, faultOf, type StoredWork, verdictOf } from '#test/support/ledger/verdict.ts';
import { type TestService, testService } from '#test/support/service.ts';

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
	before(async () => {
		service = await testService();
	});
	after(() => service[Symbol.asyncDispose]());

	test('what every kind of sender had acknowledged is stored once and in order, and what is taken away is found lost', async () => {
		const sites = await ledgerSites(service.databaseUrl, 3);
		await new Promise((resolve) => setTimeout(resolve, 1500));
		const ledger = new LedgerClient(sites, (surface) => service.port(surface));
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
});
