import assert from 'node:assert/strict';
import type { Delivery } from '#record/delivery.ts';
import type { BatchOutcome } from '#site/flights.ts';
import { Lane, type LaneOptions } from '#site/lane.ts';
import { ManualTimers, promisesSettle } from '#test/support/manual-timers.ts';
import { defaultLimits, type Limits } from '../../src/limits.ts';
import { delivery, replyTo, Told } from './letters.ts';

/** A lane whose batches end as the test says. A batch is written as its messages: `a1 b1`; `a1!` is withheld. */
export class Rig {
	readonly timers = new ManualTimers();
	readonly told = new Told();
	readonly batches: string[] = [];
	readonly availability: boolean[] = [];
	readonly room: string[] = [];
	readonly lane: Lane;
	/** Those in flight, the oldest first. */
	readonly #flights: { batch: readonly Delivery[]; end: (outcome: BatchOutcome) => void }[] = [];

	constructor(limits: Partial<Limits> = {}, options: Partial<LaneOptions> = {}) {
		this.lane = new Lane({
			...options,
			limits: { ...defaultLimits, batchMessagesMax: 4, batchBytesMax: 100, batchWaitMsMax: 0, siteAloneMs: 0, ...limits },
			timers: this.timers,
			nowMs: () => this.timers.elapsedMs(),
			process: (deliveries, isAhead) => {
				const messages = deliveries.map(({ id, withheld }) => (withheld ? `${id}!` : id)).join(' ');
				this.batches.push(isAhead ? `ahead: ${messages}` : messages);
				return new Promise((end) => this.#flights.push({ batch: deliveries, end }));
			},
			onAvailability: (available) => this.availability.push(available),
			onRoom: (siteId) => this.room.push(siteId),
		});
	}

	/** Messages arrive, `a1:50` with 50 bytes. */
	send(messages: string): void {
		for (const message of messages.split(' ')) {
			const [name = '', bytes] = message.split(':');
			this.told.watch(name, this.lane.deliver(delivery(name, Number(bytes ?? 1))));
		}
	}

	#oldest() {
		return this.#flights.shift() ?? assert.fail('no batch is in flight');
	}

	/** Ends the oldest batch in flight after some time, and the phases after it. */
	async end(kind: BatchOutcome['kind'] = 'done', afterMs = 0): Promise<void> {
		await this.timers.advance(afterMs);
		const { batch, end } = this.#oldest();
		end(kind === 'done' ? { kind, replies: batch.map(replyTo) } : { kind });
		await promisesSettle();
		await this.timers.settle();
	}

	/** The outcome of the oldest batch in flight as it is written here. */
	async endWith(outcome: BatchOutcome): Promise<void> {
		this.#oldest().end(outcome);
		await promisesSettle();
	}

	async sent(messages: string): Promise<void> {
		this.send(messages);
		await this.timers.settle();
	}
}

/** Ends batches well until nothing comes any more; all batches. */
export async function drained(rig: Rig): Promise<string[]> {
	for (let ended = 0; ended < rig.batches.length; ended++) await rig.end();
	return rig.batches;
}
