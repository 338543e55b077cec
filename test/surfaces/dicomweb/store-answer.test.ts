import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IntakeResult } from '#imaging/intake.ts';
import { failedPart, failureReasons, type PartResult, partResult } from '#imaging/store-reasons.ts';
import { storeAnswer } from '#surfaces/dicomweb/store-answer.ts';
import { instanceAttributes } from '#test/support/instance-attributes.ts';

const attributes = instanceAttributes();
const named = { sopClassUid: attributes.sopClassUid, sopInstanceUid: attributes.sopInstanceUid };
const refused = { kind: 'refused', text: 'why', attributes: undefined } as const;
const part = (result: IntakeResult) => partResult(result, named);

interface Shown {
	status: number;
	retryAfter: string | undefined;
	stored: unknown[];
	failed: unknown[];
	others: unknown[];
}

function shown(results: readonly PartResult[]): Shown {
	const { status, headers = {}, body } = storeAnswer('http://host/dicomweb', 'application/dicom+json', results);
	const module = JSON.parse(String(body)) as Record<string, { Value: Record<string, { Value: unknown[] }>[] } | undefined>;
	const reasons = (sequence: string, tag: string) => module[sequence]?.Value.map((item) => item[tag]?.Value[0] ?? 'none') ?? [];
	return {
		status,
		retryAfter: headers['Retry-After'],
		stored: reasons('00081199', '00081196'),
		failed: reasons('00081198', '00081197'),
		others: reasons('0008119A', '00081197'),
	};
}

const stored = part({ kind: 'stored', attributes, hasReplaced: false });

describe('the answer to a store request', () => {
	const nothing = { retryAfter: undefined, stored: [], failed: [], others: [] };
	const cases: [title: string, results: PartResult[], expected: Partial<Shown>][] = [
		['stored', [stored], { status: 200, stored: ['none'] }],
		['stored in the place of other content', [part({ kind: 'stored', attributes, hasReplaced: true })], { status: 200, stored: ['none'] }],
		['stored before', [part({ kind: 'duplicate', attributes })], { status: 200, stored: ['none'] }],
		['kept aside: stored with a warning', [part({ kind: 'quarantined', attributes })], { status: 202, stored: [0xb000] }],
		['refused for now: again later', [part({ ...refused, reason: 'not-now' })], { status: 503, retryAfter: '5', failed: [0xa700] }],
		['data set and request differ', [part({ ...refused, reason: 'mismatch' })], { status: 409, failed: [0xa900] }],
		['not readable', [part({ ...refused, reason: 'not-understood' })], { status: 409, failed: [0xc000] }],
		["refused by the site's policy", [part({ ...refused, reason: 'other-content' })], { status: 409, failed: [0xc111] }],
		['a part that names no instance', [failedPart(failureReasons.cannotUnderstand)], { status: 409, others: [0xc000] }],
		[
			'one is longer than the limit: not for now alone',
			[failedPart(failureReasons.outOfResources, named)],
			{ status: 409, failed: [0xa700] },
		],
		['some are stored', [stored, part({ ...refused, reason: 'not-now' })], { status: 202, stored: ['none'], failed: [0xa700] }],
		[
			'none is stored, one of them for good',
			[part({ ...refused, reason: 'not-now' }), part({ ...refused, reason: 'mismatch' })],
			{ status: 409, failed: [0xa700, 0xa900] },
		],
	];
	for (const [title, results, expected] of cases) {
		test(title, () => assert.deepEqual(shown(results), { ...nothing, ...expected }));
	}
});
