import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { reasonOf } from '#surfaces/http/load.ts';

const require = createRequire(import.meta.url);
const preamble = 'This version of uWS.js supports only Node.js versions 22, 24 and 26 on (glibc) Linux';

/** There is none of a Node.js that has not been released. */
const binary = '@uwsjs/linux-x64-0';

/** Fails as the packager's entry does: its own sentence, then the cause. */
function failing(cause: () => unknown): Error {
	try {
		cause();
	} catch (error) {
		return new Error(`${preamble}\n\n${String(error)}`);
	}
	throw new Error('nothing failed');
}

describe('why the HTTP server library does not load', () => {
	it('says which binary is missing where npm ci was run by another Node.js', () => {
		assert.equal(
			reasonOf(failing(() => require(binary))),
			`${binary} is not installed: npm ci installs the binary for the Node.js that runs it`,
		);
	});

	it('names what the system lacks', () => {
		const cause = "/lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.38' not found (required by uws_linux_x64_127.node)";
		const error = failing(() => {
			throw new Error(cause);
		});
		assert.equal(reasonOf(error), `Error: ${cause}`);
	});

	it('says what there is of any other error', () => {
		assert.equal(reasonOf(new Error('first\nsecond')), 'first');
		assert.equal(reasonOf('a text'), 'a text');
	});
});
