import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Delivery, Reply } from '#record/delivery.ts';
import { Lane } from '#site/lane.ts';
import { delivery } from '#test/support/change-sets.ts';
import { defaultLimits } from '../../src/limits.ts';

/** A lane whose batches do not carry out the messages that are stuck, nor what stands behind them in their site. */
function lane() {
	const stuck = new Set<string>();
	const carriedOut: string[] = [];
	let nowMs = 0;
	const availability: boolean[] = [];
	const controlIdOf = ({ bytes }: Delivery) => JSON.parse(Buffer.from(bytes).toString()).controlId as string;
	const made = new Lane({
		limits: { ...defaultLimits, batchWaitMsMax: 0, unavailableMsMax: 1000 },
		nowMs: () => nowMs,
		onAvailability: (available) => availability.push(available),
		onRoom: () => undefined,
		process: async (deliveries) => {
			const held = new Set<string>();
			const replies = deliveries.map((sent): Reply | undefined => {
				const controlId = controlIdOf(sent);
				if (stuck.has(controlId)) held.add(sent.siteId);
				if (held.has(sent.siteId)) return undefined;
				carriedOut.push(controlId);
				return { id: sent.id, outcome: 'accepted', messageType: 'TEST', controlId, answer: { acknowledgements: [] }, flags: [] };
			});
			return { kind: 'done', replies };
		},
	});
	return {
		lane: made,
		stuck,
		carriedOut,
		availability,
		send: (site: string, controlId: string) => made.deliver(delivery(site, controlId, [])).then((reply) => reply.controlId),
		pass: (ms: number) => {
			nowMs += ms;
			made.expire();
		},
	};
}

describe('a site whose message was not carried out', () => {
	test('waits in order while others go on, and is taken up again', async () => {
		const { stuck, carriedOut, availability, send } = lane();
		stuck.add('n2');
		const north = ['n1', 'n2', 'n3'].map((controlId) => send('north', controlId));
		const south = ['s1', 's2', 's3'].map((controlId) => send('south', controlId));
		await Promise.all(south);
		await north[0];
		const later = send('north', 'n4');
		assert.equal(await send('south', 's4'), 's4');
		assert.deepEqual(
			carriedOut.filter((controlId) => controlId.startsWith('n')),
			['n1'],
		);
		stuck.clear();
		await Promise.all([...north, later]);
		assert.deepEqual(
			carriedOut.filter((controlId) => controlId.startsWith('n')),
			['n1', 'n2', 'n3', 'n4'],
		);
		assert.deepEqual(availability, [], 'the lane itself was available all the time');
	});

	test('is given up with all that waits for it when its time is over; then the lane is idle', async () => {
		const { lane: held, stuck, send, pass } = lane();
		stuck.add('n1');
		const rejected = Promise.all(['n1', 'n2'].map((controlId) => assert.rejects(send('north', controlId), { code: 'unavailable' })));
		await send('south', 's1');
		const idle = held.idle();
		pass(999);
		assert.equal(held.mailbox('north')?.length, 2);
		pass(2);
		await rejected;
		await idle;
		assert.equal(await send('north', 'n3'), 'n3');
	});
});
