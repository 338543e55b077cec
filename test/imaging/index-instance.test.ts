import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#core/clock.ts';
import { instanceIndex } from '#imaging/index-instance.ts';
import type { Delivery, Reply, ReplyTo } from '#record/delivery.ts';
import type { IndexAnswer, StoredInstance } from '#record/instance.ts';
import { unpackInstance } from '#record/instance-bytes.ts';
import { instanceAttributes } from '#test/support/instance-attributes.ts';
import { createMetrics, metricDefinitions } from '../../src/metrics.ts';

const instance: StoredInstance = {
	attributes: instanceAttributes(),
	digest: 'a'.repeat(64),
	bytes: 6,
	objectKey: 'key',
	callingAe: '',
	source: 'key1',
};

function site(answer: IndexAnswer) {
	const delivered: Delivery[] = [];
	const state = { up: true, room: true };
	const gateway = {
		deliver: async <Sent extends Delivery>(delivery: Sent) => {
			delivered.push(delivery);
			const { id } = delivery;
			return { id, outcome: 'accepted', messageType: 'C-STORE', controlId: '', answer, flags: [] } as Reply<IndexAnswer> as ReplyTo<Sent>;
		},
		hasRoom: () => state.room,
		whenRoom: () => Promise.resolve(),
		available: () => state.up,
	};
	const metrics = createMetrics({ processMetrics: false });
	const index = instanceIndex({ gateway, clock: systemClock, metrics });
	const counted = async () => {
		const counts = await metrics.registry.getSingleMetric(metricDefinitions.indexedInstances.name)?.get();
		return (counts?.values ?? []).filter(({ value }) => value > 0).map(({ labels, value }) => [labels['outcome'], value]);
	};
	return { delivered, state, index, counted };
}

const sender = { clientId: 'c', settings: { default_authority: 'urn:oid:1.2.3' } };

describe('an instance on its way into the index', () => {
	test('is delivered by the surface that it came by, with its object, and its outcome is counted', async () => {
		for (const surface of ['dimse', 'dicomweb'] as const) {
			const { delivered, index, counted } = site({ kind: 'duplicate' });
			const answer = await index({ siteId: 's', surface, ...sender, instance, object: [Buffer.from('pix'), Buffer.from('els')] });
			assert.deepEqual(answer, { kind: 'duplicate' });
			const [delivery] = delivered;
			assert.ok(delivery?.kind === 'instance');
			assert.deepEqual(
				[delivery.siteId, delivery.surface, delivery.source, delivery.clientId, delivery.settings],
				['s', surface, 'key1', 'c', { default_authority: 'urn:oid:1.2.3' }],
			);
			const unpacked = unpackInstance(delivery.bytes);
			assert.deepEqual([unpacked.instance.objectKey, Buffer.from(unpacked.object ?? []).toString()], ['key', 'pixels']);
			assert.deepEqual(await counted(), [['duplicate', 1]]);
		}
	});

	test('that failed is not counted', async () => {
		const { index, counted } = site({ kind: 'failed', failure: { code: 'internal', diagnostics: 'why' } });
		await index({ siteId: 's', surface: 'dimse', ...sender, instance });
		assert.deepEqual(await counted(), []);
	});

	test('is not taken while the site has no room or nothing can be stored', async () => {
		for (const lack of ['up', 'room'] as const) {
			const { delivered, state, index } = site({ kind: 'stored' });
			state[lack] = false;
			await assert.rejects(index({ siteId: 's', surface: 'dimse', ...sender, instance }), { code: 'too-many-requests' });
			assert.deepEqual(delivered, []);
		}
	});
});
