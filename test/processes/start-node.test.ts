import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { processesOf } from '#processes/start-node.ts';
import { defaultLimits, limitsOfProcess } from '../../src/limits.ts';

describe('the processes of a node', () => {
	test('are half of the cores, at most sixteen, and one below four cores', () => {
		assert.deepEqual(
			[1, 2, 3, 4, 7, 8, 32, 128].map((cores) => processesOf({ PROCESSES: undefined }, cores, 'linux')),
			[1, 1, 1, 2, 3, 4, 16, 16],
		);
		assert.equal(processesOf({ PROCESSES: 3 }, 2, 'linux'), 3);
	});

	test('are one where the system does not spread connections', () => {
		assert.equal(processesOf({ PROCESSES: undefined }, 16, 'darwin'), 1);
		assert.throws(
			() => processesOf({ PROCESSES: 2 }, 16, 'darwin'),
			/^ConfigurationError: PROCESSES: several processes share ports on Linux only/,
		);
	});

	test('divide the limits that messages and requests meet, and no others', () => {
		const part = limitsOfProcess(defaultLimits, 3);
		assert.deepEqual(
			[part.mailboxMessagesMax, part.httpRequestsMax, part.readStatementsMax, part.readConnectionsMax],
			[Math.floor(defaultLimits.mailboxMessagesMax / 3), Math.floor(defaultLimits.httpRequestsMax / 3), 666, 2],
		);
		for (const name of ['mllpConnectionsMax', 'dimseAssociationsMax', 'httpBodyBytesMax', 'writeMsMax'] as const)
			assert.equal(part[name], defaultLimits[name], name);
		const few = limitsOfProcess({ ...defaultLimits, mailboxMessagesMax: 2, readConnectionsMax: 1 }, 3);
		assert.deepEqual([few.mailboxMessagesMax, few.readConnectionsMax], [1, 1]);
		const many = limitsOfProcess(defaultLimits, 64);
		assert.equal(many.httpWaitingBytesMax, defaultLimits.httpBodyBytesMax, 'one whole body');
	});

	test('have the limits of a node of one process where they are one', () => {
		assert.deepEqual(limitsOfProcess(defaultLimits, 1), defaultLimits);
	});
});
