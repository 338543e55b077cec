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
	});

	for (const count of [1, 2, 3, 4, 5, 12, 14, 16, 64, 128]) {
		test(`leave room for others beside the bodies of one sender: each of ${count}`, () => {
			const part = limitsOfProcess(defaultLimits, count);
			const { httpBodyBytesMax: body, mllpFrameBytesMax: frame } = part;
			assert.ok(part.httpWaitingBytesMax >= 4 * body, 'four whole bodies have room');
			for (const name of ['httpAddressWaitingBytesMax', 'httpKeyWaitingBytesMax', 'httpSiteWaitingBytesMax'] as const) {
				assert.ok(part[name] >= body, `a whole body fits ${name}`);
				assert.ok(part[name] <= part.httpWaitingBytesMax / 2, `${name} is half of the room or less`);
			}
			// An empty mailbox takes one message of any size.
			const mailbox = Math.max(part.mailboxBytesMax, body, frame);
			assert.ok(mailbox <= part.waitingBytesMax / 2, 'a site has half of what may wait or less');
			assert.ok(part.mailboxClientBytesMax <= part.mailboxBytesMax, 'a client has no more than its site');
			assert.ok(part.httpWaitingBytesMax <= Math.max(defaultLimits.httpWaitingBytesMax / count, 4 * body), 'and no more than that');
		});
	}

	test('have as much memory for bodies as the node where that is less than four of them', () => {
		const small = limitsOfProcess({ ...defaultLimits, httpWaitingBytesMax: 3 * defaultLimits.httpBodyBytesMax, waitingBytesMax: 1 }, 16);
		assert.deepEqual(
			[small.httpWaitingBytesMax, small.httpKeyWaitingBytesMax, small.waitingBytesMax, small.mailboxBytesMax],
			[3 * defaultLimits.httpBodyBytesMax, defaultLimits.httpKeyWaitingBytesMax, 1, defaultLimits.mailboxBytesMax],
		);
	});

	test('have the limits of a node of one process where they are one', () => {
		assert.deepEqual(limitsOfProcess(defaultLimits, 1), defaultLimits);
	});
});
