import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { createLog } from '#core/log.ts';

/** What a log line says of an error. */
function logged(error: unknown): string {
	let line = '';
	createLog('info', {
		write: (text: string) => {
			line += text;
		},
	}).error({ err: error }, 'message could not be processed');
	return line;
}

describe('a logged error', () => {
	test('does not quote what PostgreSQL quotes', () => {
		const error = Object.assign(new Error('invalid input syntax for type date: "LOVEMORE"'), {
			code: '22007',
			detail: 'Key (value)=(4711) already exists.',
			constraint: 'patient_pkey',
		});
		const line = logged(error);
		assert.doesNotMatch(line, /LOVEMORE|4711/);
		assert.match(line, /"code":"22007"/);
		assert.match(line, /"constraint":"patient_pkey"/);
		assert.match(line, /log\.test\.ts/);
	});

	test('does not quote what JSON.parse quotes, as a cause neither', () => {
		const parse = () => JSON.parse('{"family":LOVEMORE}');
		assert.throws(parse, (error) => {
			assert.match(String(error), /LOVEMORE/);
			assert.doesNotMatch(logged(error), /LOVEMORE/);
			const line = logged(new Failure('internal', 'the message could not be processed', { cause: error }));
			assert.doesNotMatch(line, /LOVEMORE/);
			assert.match(line, /the message could not be processed/);
			return true;
		});
	});

	test("keeps the text of the system's own errors", () => {
		assert.match(logged(Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })), /127\.0\.0\.1:5432/);
	});
});
