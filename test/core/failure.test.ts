import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure, type FailureCode, failureCodes, failureRecord } from '#core/failure.ts';

describe('the codes of failures', () => {
	// HL7 table 0357, as far as a message can be refused with it.
	const hl7 = ['100', '101', '102', '103', '104', '200', '201', '202', '203', '204', '205', '207'];
	// IssueType of FHIR R4.
	const issues = `invalid structure required value invariant security login unknown expired forbidden suppressed processing not-supported
		duplicate multiple-matches not-found deleted too-long code-invalid extension too-costly business-rule conflict transient lock-error
		no-store exception timeout incomplete throttled informational`.split(/\s+/);
	for (const [code, words] of Object.entries(failureCodes)) {
		test(`${code} is said in the words of HL7 v2, FHIR and HTTP`, () => {
			assert.ok(hl7.includes(words.hl7), words.hl7);
			assert.ok(issues.includes(words.issue), words.issue);
			assert.ok(words.status >= 400 && words.status < 600);
		});
	}

	test('only what the service cannot do for now, or at all, is its own fault', () => {
		const own = Object.entries(failureCodes).filter(([, { status }]) => status >= 500);
		assert.deepEqual(
			own.map(([code]) => code),
			['internal', 'unavailable'],
		);
	});

	test('a message that is refused for its content is 422 over HTTP, so that nobody sends it again unchanged', () => {
		const content: FailureCode[] = [
			'segment-sequence',
			'required-field-missing',
			'data-type',
			'table-value',
			'value-too-long',
			'unknown-key',
		];
		assert.deepEqual([...new Set(content.map((code) => failureCodes[code].status))], [422]);
	});
});

describe('a failure', () => {
	test('is an error that carries its sentence, its place and its cause', () => {
		const cause = new Error('why');
		const failure = new Failure('data-type', 'PID-7 is not a date', { location: { segment: 'PID', field: 7 }, cause });
		assert.ok(failure instanceof Error);
		assert.deepEqual(
			[failure.name, failure.message, failure.diagnostics, failure.cause],
			['Failure', 'PID-7 is not a date', failure.message, cause],
		);
	});

	test('without a cause has none, and without options only its code and sentence', () => {
		const failure = new Failure('gone', 'it was deleted');
		assert.equal('cause' in failure, false);
		const { location, retryAfterSeconds, allow, issues } = failure;
		assert.deepEqual([location, retryAfterSeconds, allow, issues], [undefined, undefined, undefined, undefined]);
	});

	test('becomes plain data with its place, if it has one, and without its cause', () => {
		const located = new Failure('data-type', 'not a date', { location: { segment: 'PID' }, cause: new Error('secret') });
		assert.deepEqual(failureRecord(located), { code: 'data-type', diagnostics: 'not a date', location: { segment: 'PID' } });
		const plain = failureRecord(new Failure('gone', 'deleted', { retryAfterSeconds: 5 }));
		assert.deepEqual(plain, { code: 'gone', diagnostics: 'deleted' });
		assert.deepEqual(structuredClone(plain), plain);
	});
});
