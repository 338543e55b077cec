import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { testService } from './support/service.ts';

/** The lines of README.md that a newcomer pastes into a shell beside the running service, in one go. */

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

function pastedLines(): string {
	const section = readme.slice(readme.indexOf('\n## A first message'), readme.indexOf('\n## Surfaces'));
	return [...section.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => lines).join('');
}

/** The ports of README.md, by surface. */
const documented: readonly [string, RegExp][] = [
	['fhir', /(?<=127\.0\.0\.1:)8080\b/g],
	['hl7', /(?<=127\.0\.0\.1:)8081\b/g],
	['mpps', /(?<=127\.0\.0\.1:)8082\b/g],
	['mllp', /(?<=127\.0\.0\.1\/)3000\b/g],
];

describe('README.md', () => {
	test('every line of the first message works when all are pasted in one go', async () => {
		await using service = await testService();
		const script = documented.reduce((lines, [surface, port]) => {
			assert.match(lines, port, `README.md shows the port of ${surface}`);
			return lines.replace(port, String(service.port(surface)));
		}, pastedLines());
		const shell = spawn('bash', [], {
			cwd: new URL('..', import.meta.url),
			env: { ...process.env, DATA_DIR: service.dataDir, DATABASE_URL: service.databaseUrl },
			stdio: ['pipe', 'pipe', 'pipe'],
		});
		shell.stdin.end(script);
		const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
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
