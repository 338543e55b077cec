import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IntakeResult } from '#imaging/intake.ts';
import { storeResponse } from '#surfaces/dimse/store-response.ts';
import { instanceAttributes } from '#test/support/instance-attributes.ts';

const attributes = instanceAttributes();
const refused = { kind: 'refused', text: 'why', attributes: undefined } as const;

describe('the answer to a C-STORE', () => {
	const cases: [title: string, result: IntakeResult, status: number, comment: string | undefined][] = [
		['stored: success', { kind: 'stored', attributes, hasReplaced: false }, 0x0000, undefined],
		['stored in the place of other content: success', { kind: 'stored', attributes, hasReplaced: true }, 0x0000, undefined],
		['stored before: success', { kind: 'duplicate', attributes }, 0x0000, undefined],
		['kept aside: a warning', { kind: 'quarantined', attributes }, 0xb000, 'other content is stored under this UID; kept aside'],
		['refused for now: out of resources', { ...refused, reason: 'not-now' }, 0xa700, 'why'],
		['data set and request differ: does not match', { ...refused, reason: 'mismatch' }, 0xa900, 'why'],
		['not readable: cannot understand', { ...refused, reason: 'not-understood' }, 0xc000, 'why'],
		["other content, which the site's policy refuses: a failure of its own", { ...refused, reason: 'other-content' }, 0xc111, 'why'],
	];
	for (const [title, result, status, comment] of cases) {
		test(title, () => {
			const response = storeResponse(result);
			assert.deepEqual([response.status, response.comment], [status, comment]);
		});
	}
});
