import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { linesOf, pastedBeside } from './support/pasted-lines.ts';
import { testService } from './support/service.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** The lines of README.md that a newcomer pastes beside the running service, in one go. */
function firstMessageLines(): string {
	return linesOf(readme.slice(readme.indexOf('\n## A first message'), readme.indexOf('\n## Surfaces')));
}

describe('README.md', () => {
	test('every line of the first message works when all are pasted in one go', async () => {
		await using service = await testService();
		const { output, errors } = await pastedBeside(service, firstMessageLines(), 'fhir', 'hl7', 'mpps', 'mllp');
		assert.equal(errors, '');
		const expected = [
			/"message_type":"ADT\^A01"/,
			/"resourceType":"Bundle"[^\n]*"value":"4711"/,
			/MSA\|AA\|2/,
			/"value":"4712"/,
			/"success":true,"session_id"/,
			/1\.2\.826\.0\.1\.2\b[^\n]*IN PROGRESS|IN PROGRESS[^\n]*1\.2\.826\.0\.1\.2\b/,
			/"00081199"/,
			/"resourceType":"DiagnosticReport"[^\n]*"resourceType":"ImagingStudy"/,
		];
		for (const pattern of expected) assert.match(output, pattern);
	});
});
