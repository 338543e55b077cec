import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Delivery, InstanceDelivery } from '#record/delivery.ts';
import type { InPlace } from '#site/shards.ts';
import { promisesSettle } from '#test/support/manual-timers.ts';
import { replyTo } from './letters.ts';
import { of, Rig, stages } from './shards-rig.ts';

describe('a batch of instances', () => {
	const instanceOf = (name: string): InstanceDelivery => ({ ...of(name), kind: 'instance', surface: 'dimse' });

	/** Notes what is carried out in this thread; it ends as the test says. */
	function rigWithInPlace(t: TestContext) {
		const here: { messages: string; end(isTaken?: boolean): void; crash(): void }[] = [];
		let isClosed = false;
		const process: InPlace['process'] = (deliveries) =>
			new Promise((resolve, reject) => {
				here.push({
					messages: deliveries.map(({ id }) => id).join(' '),
					end: (isTaken = true) => resolve(isTaken ? { replies: deliveries.map(replyTo), stages } : undefined),
					crash: () => reject(new Error('a bug')),
				});
			});
		const close = async () => {
			isClosed = true;
		};
		const rig = new Rig(t, { inPlace: { process, close } });
		const sent = async (...deliveries: Delivery[]) => {
			for (const one of deliveries) rig.told.watch(one.id, rig.shards.deliver(one));
			await rig.timers.settle();
		};
		const ended = async (end: () => void) => {
			end();
			await promisesSettle();
			await rig.timers.settle();
		};
		return { rig, here, sent, ended, isClosed: () => isClosed };
	}
	const last = <T>(all: readonly T[]): T => all.at(-1) ?? assert.fail('there is none');

	test('is carried out in this thread where there are few, and nothing else is', async (t) => {
		const { rig, here, sent, ended } = rigWithInPlace(t);
		await sent(instanceOf('01'), instanceOf('02'));
		await ended(() => last(here).end());
		await sent(instanceOf('03'), of('04'));
		await rig.end();
		await sent(...Array.from({ length: 9 }, (_, index) => instanceOf(`0${index}`)));
		await rig.end();
		assert.deepEqual(
			here.map(({ messages }) => messages),
			['01 02'],
		);
		assert.deepEqual(
			rig.given.map(({ messages }) => messages),
			['03 04', '00 01 02 03 04 05 06 07 08'],
		);
		assert.equal(rig.told.take().filter((told) => told.endsWith('accepted')).length, 13);
	});

	test('keeps the order of its site, and goes to a worker while another one is carried out here', async (t) => {
		const { rig, here, sent, ended } = rigWithInPlace(t);
		await sent(instanceOf('01'));
		await sent(of('02'), instanceOf('03'));
		await sent(instanceOf('11'));
		assert.deepEqual([here.length, rig.given.map(({ messages }) => messages)], [1, ['11']]);
		await ended(() => last(here).end());
		assert.deepEqual(rig.told.take(), ['01 accepted']);
		assert.equal(last(rig.given).messages, '02 03');
	});

	test('is tried again when the database does not take it, or when it fails; what fails twice alone is withheld', async (t) => {
		const { rig, here, sent, ended } = rigWithInPlace(t);
		await sent(instanceOf('01'));
		await ended(() => last(here).end(false));
		assert.equal(rig.shards.available(), false);
		for (const time of [1, 2]) {
			await rig.timers.advance(50);
			await ended(() => last(here).crash());
			assert.equal(here.length, 1 + time);
		}
		await rig.timers.advance(50);
		assert.deepEqual(
			rig.given.map(({ messages }) => messages),
			['01'],
			'a worker refuses it',
		);
		await rig.end();
		assert.deepEqual(rig.told.take(), ['01 accepted']);
	});

	test('what carries it out is closed with the workers', async (t) => {
		const { rig, isClosed } = rigWithInPlace(t);
		await rig.close();
		assert.equal(isClosed(), true);
	});
});
