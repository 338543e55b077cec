import { Failure } from '#core/failure.ts';
import { ReadCosts } from './read-costs.ts';
import { chosenSlot, isLong, isSlow, isStalled, lookMs, type SlotLoad, slowSlot } from './read-slots.ts';
import { sitesOf } from './replica/position.ts';
import type { WireStatement } from './wire.ts';

/** A read from when it is asked for to its end. */
export interface Read {
	readonly statement: WireStatement;
	readonly values: readonly unknown[];
	expectedMs: number;
	isLong: boolean;
	isSlow: boolean;
	/** The site whose share a slow read takes; undefined for one that is about no single site. */
	siteId: string | undefined;
}

export interface TurnSlot extends SlotLoad {
	/** What is in flight, in the order in which it is answered. */
	readonly reads: Set<Read>;
	/** The number of slow reads that each site has in flight here. */
	readonly slowOf: Map<string, number>;
}

/** Thrown for a read whose time was over before its turn came. */
export class WaitedTooLong extends Failure {
	constructor() {
		super('unavailable', 'the reads before this one took too long', { retryAfterSeconds: 2 });
	}
}

interface Waiting<Slot> {
	read: Read;
	resolve(slot: Slot): void;
	timer: NodeJS.Timeout;
}

/**
 * Says which connection a read takes, and when. Most reads are sent at once. The slow ones of a site have a part of the connections; beyond it they
 * wait here, the sites in turn, so that a site with slow searches leaves connections to the others.
 */
export class ReadTurns<Slot extends TurnSlot> {
	readonly #slots: readonly Slot[];
	readonly #readMsMax: number;
	readonly #costs = new ReadCosts();
	/** The reads that wait, by their sites. The site that comes first is the one that was served the longest ago. */
	readonly #waiting = new Map<string, Waiting<Slot>[]>();
	/** The connections were last looked at then for reads that do not end. */
	#lookedMs = 0;

	constructor(slots: readonly Slot[], readMsMax: number) {
		this.#slots = slots;
		this.#readMsMax = readMsMax;
	}

	get waiting(): number {
		let waiting = 0;
		for (const queue of this.#waiting.values()) waiting += queue.length;
		return waiting;
	}

	readOf(statement: WireStatement, values: readonly unknown[]): Read {
		const read: Read = { statement, values, expectedMs: 0, isLong: false, isSlow: false, siteId: undefined };
		this.#expect(read);
		return read;
	}

	/** Takes a place on a connection. @returns undefined if the read has to wait */
	enter(read: Read): Slot | undefined {
		const nowMs = performance.now();
		if (nowMs - this.#lookedMs >= lookMs) this.#noteStalled(nowMs);
		return read.isLong && this.#waiting.has(read.siteId ?? '') ? undefined : this.#enter(read, nowMs);
	}

	/** Takes a place on a connection when the read's turn comes. @throws WaitedTooLong */
	entered(read: Read): Promise<Slot> {
		const siteId = read.siteId ?? '';
		const queue = this.#waiting.get(siteId) ?? [];
		this.#waiting.set(siteId, queue);
		return new Promise<Slot>((resolve, reject) => {
			const giveUp = () => {
				queue.splice(queue.indexOf(waiting), 1);
				if (queue.length === 0) this.#waiting.delete(siteId);
				reject(new WaitedTooLong());
			};
			// What has waited for so long would be ended later than its caller was promised.
			const waiting: Waiting<Slot> = { read, resolve, timer: setTimeout(giveUp, this.#readMsMax).unref() };
			queue.push(waiting);
		});
	}

	/** Gives the place back. `sentMs` is undefined for a read that was not sent. */
	leave(slot: Slot, read: Read, sentMs: number | undefined): void {
		const endedMs = performance.now();
		// One that was ended after READ_MS_MAX teaches the most.
		if (sentMs !== undefined) this.#costs.took(read.statement, endedMs - Math.max(sentMs, slot.progressMs));
		slot.progressMs = endedMs;
		slot.inFlight--;
		slot.reads.delete(read);
		if (read.isLong) slot.longInFlight--;
		if (read.isSlow) countSlow(slot, read.siteId, -1);
		// Sums of fractions do not come back to 0.
		slot.expectedMs = slot.inFlight === 0 ? 0 : slot.expectedMs - read.expectedMs;
		if (this.#waiting.size > 0) this.#serve();
	}

	#enter(read: Read, nowMs: number): Slot | undefined {
		const now = { nowMs, dateMs: Date.now() };
		const slot = read.isSlow ? slowSlot(this.#slots, read, now) : chosenSlot(this.#slots, read.expectedMs, now);
		if (slot === undefined) return undefined;
		if (slot.inFlight === 0) slot.progressMs = nowMs;
		slot.inFlight++;
		slot.reads.add(read);
		if (read.isLong) slot.longInFlight++;
		if (read.isSlow) countSlow(slot, read.siteId, 1);
		slot.expectedMs += read.expectedMs;
		return slot;
	}

	/** Gives the sites that wait one place each, in turn, as long as there are any. */
	#serve(): void {
		for (let served = true; served; ) {
			served = false;
			for (const siteId of [...this.#waiting.keys()]) served = this.#serveSite(siteId) || served;
		}
	}

	#serveSite(siteId: string): boolean {
		const queue = this.#waiting.get(siteId);
		const [first] = queue ?? [];
		if (queue === undefined || first === undefined) return false;
		// Others of its kind may have ended meanwhile.
		this.#expect(first.read);
		const slot = this.#enter(first.read, performance.now());
		if (slot === undefined) return false;
		clearTimeout(first.timer);
		queue.shift();
		this.#waiting.delete(siteId);
		if (queue.length > 0) this.#waiting.set(siteId, queue);
		first.resolve(slot);
		return true;
	}

	/** A read that seemed short and does not end is a long one, and so are the next ones of its kind. */
	#noteStalled(nowMs: number): void {
		this.#lookedMs = nowMs;
		for (const slot of this.#slots) {
			if (!isStalled(slot, nowMs)) continue;
			const [head] = slot.reads;
			if (head === undefined) continue;
			this.#costs.takes(head.statement, nowMs - slot.progressMs);
			if (!head.isLong) slot.longInFlight++;
			head.isLong = true;
			if (head.isSlow) continue;
			head.isSlow = true;
			head.siteId = siteOf(head.values);
			countSlow(slot, head.siteId, 1);
		}
	}

	#expect(read: Read): void {
		read.expectedMs = this.#costs.expectedMs(read.statement);
		read.isLong = isLong(read.expectedMs);
		read.isSlow = isSlow(read.expectedMs);
		read.siteId = read.isSlow ? siteOf(read.values) : undefined;
	}
}

function siteOf(values: readonly unknown[]): string | undefined {
	const sites = sitesOf(values);
	return sites?.length === 1 ? sites[0] : undefined;
}

function countSlow(slot: TurnSlot, siteId: string | undefined, by: 1 | -1): void {
	slot.slowInFlight += by;
	if (siteId === undefined) return;
	const count = (slot.slowOf.get(siteId) ?? 0) + by;
	if (count === 0) slot.slowOf.delete(siteId);
	else slot.slowOf.set(siteId, count);
}
