import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { hl7v2 } from '#ingest/kinds/hl7v2.ts';
import { adt } from '#test/support/adt.ts';
import { delivery, interpretContext } from '#test/support/change-sets.ts';
import { msa } from '#test/support/mllp-client.ts';

/** The codes that a message with these MSH-15 and MSH-16 is answered. */
function codes(accept: string, application: string, outcome: 'accepted' | 'refused', enhancedAck = true): string[] {
	const bytes = Buffer.from(adt('1', 'A', 1).replace('|2.5.1|||||||UNICODE', `|2.5.1|||${accept}|${application}|||UNICODE`));
	const policy = { also: [], ignore: [], enhancedAck, defaultAuthority: undefined };
	const interpretation = hl7v2.interpret(delivery('s', '1', [], { bytes, policy }), interpretContext);
	if ('parts' in interpretation) assert.fail('a message has no parts');
	const failure = outcome === 'refused' ? new Failure('unknown-key', 'PID-3 is not known') : undefined;
	return interpretation
		.answer(outcome, failure, { results: [], stepReports: [], instances: [] })
		.acknowledgements.map((ack) => msa(Buffer.from(ack).toString()).code);
}

describe('enhanced acknowledgement mode', () => {
	const cases: [accept: string, application: string, accepted: string[], refused: string[]][] = [
		['', '', ['AA'], ['AE']],
		['AL', 'AL', ['CA', 'AA'], ['CE', 'AE']],
		['AL', 'NE', ['CA'], ['CE']],
		['NE', 'AL', ['AA'], ['AE']],
		['NE', 'NE', [], []],
		['ER', 'ER', [], ['CE', 'AE']],
		['SU', 'SU', ['CA', 'AA'], []],
		['AL', '', ['CA'], ['CE']],
		['', 'AL', ['AA'], ['AE']],
	];
	for (const [accept, application, accepted, refused] of cases) {
		test(`answers MSH-15 '${accept}' and MSH-16 '${application}' as they ask`, () => {
			assert.deepEqual(codes(accept, application, 'accepted'), accepted);
			assert.deepEqual(codes(accept, application, 'refused'), refused);
		});
	}

	test('is for clients that opted in: all others get AA or AE whatever the fields say', () => {
		assert.deepEqual(codes('AL', 'NE', 'accepted', false), ['AA']);
		assert.deepEqual(codes('NE', 'NE', 'refused', false), ['AE']);
	});
});
