import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChangeSet } from '#record/change-set.ts';
import type { ServiceRequestChange } from '#record/kinds/service-request.ts';
import { read } from '../reading.ts';

const pid = 'PID|1||100||Doe^Jane';

function orders({ changes }: ChangeSet): ServiceRequestChange[] {
	return changes.filter((change) => change.kind === 'service-request');
}

/** ORC-5, OBR-11 and OBR-25. */
function order(orcStatus: string, action = '', resultStatus = ''): ServiceRequestChange | undefined {
	const obr = `OBR|1|P1|F1|1^A^L|||||||${action}${'|'.repeat(14)}${resultStatus}`;
	return orders(read('ORU^R01', [pid, `ORC|RE|||G|${orcStatus}`, obr], { people_and_places: 'resources' }))[0];
}

describe('ORC and OBR as an order', () => {
	for (const [orc, result, status] of [
		['CM', '', 'completed'],
		['IP', 'F', 'active'],
		['dc', '', 'revoked'],
		['HD', '', 'on-hold'],
		['', 'F', 'completed'],
		['', 'X', 'revoked'],
		['', 'P', 'active'],
		['ZZ', '', 'active'],
	] as const) {
		test(`ORC-5 '${orc}' and OBR-25 '${result}' are ${status}`, () => assert.equal(order(orc, '', result)?.resource['status'], status));
	}

	test('has the intent of OBR-11 and both numbers', () => {
		assert.deepEqual([order('', 'G')?.resource['intent'], order('', 'A')?.resource['intent']], ['reflex-order', 'order']);
		assert.deepEqual(
			order('')?.identifiers.map(({ value, type }) => [value, JSON.stringify(type).includes('PLAC')]),
			[
				['P1', true],
				['F1', false],
			],
		);
	});

	test('is read for a sender whose messages refer to resources, and if it has a number', () => {
		const numbered = [pid, 'OBR|1|P1||1^A^L'];
		assert.deepEqual(orders(read('ORU^R01', numbered)), []);
		assert.equal(orders(read('ORU^R01', numbered, { people_and_places: 'known' }))[0]?.unknown, 'ignore');
		assert.deepEqual(orders(read('ORU^R01', [pid, 'OBR|1|||1^A^L'], { people_and_places: 'resources' })), []);
	});
});
