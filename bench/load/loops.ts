import { Latencies } from './latencies.ts';

/** One connection, which has one request under way. */
export interface Channel {
	/** Sends the request of this number. Resolves with whether it was accepted; rejects when there is no answer. */
	send(number: number): Promise<boolean>;
	close(): void;
}

export interface LoopResult {
	seconds: number;
	perSecond: number;
	accepted: number;
	failed: number;
	p50Ms: number;
	p99Ms: number;
	maxMs: number;
}

class Account {
	readonly #latencies = new Latencies();
	readonly #startedMs = performance.now();
	#lastMs = this.#startedMs;
	accepted = 0;
	failed = 0;

	async send(channel: Channel, number: number, dueMs: number): Promise<void> {
		const isAccepted = await channel.send(number).catch(() => false);
		this.#lastMs = performance.now();
		this.#latencies.record(this.#lastMs - dueMs);
		if (isAccepted) this.accepted += 1;
		else this.failed += 1;
	}

	result(): LoopResult {
		const seconds = (this.#lastMs - this.#startedMs) / 1000;
		return {
			seconds,
			perSecond: (this.accepted + this.failed) / seconds,
			accepted: this.accepted,
			failed: this.failed,
			p50Ms: this.#latencies.percentile(50),
			p99Ms: this.#latencies.percentile(99),
			maxMs: this.#latencies.maxMs,
		};
	}
}

/** Each channel sends its next request when it has its answer. What a pause of the service delays is not sent meanwhile, and is not counted. */
export async function closedLoop(
	channels: readonly Channel[],
	{ seconds, countMax = Number.POSITIVE_INFINITY }: { seconds: number; countMax?: number },
): Promise<LoopResult> {
	const account = new Account();
	const untilMs = performance.now() + seconds * 1000;
	let next = 0;
	const run = async (channel: Channel) => {
		while (performance.now() < untilMs && next < countMax) await account.send(channel, next++, performance.now());
	};
	await Promise.all(channels.map(run));
	return account.result();
}

/**
 * Requests fall due at a fixed rate, whether or not the ones before are answered; a time is counted from when its request was due. One that
 * finds no free channel waits, and that wait counts (no coordinated omission). Timers tick each millisecond, so times are up to one too long.
 */
export async function openLoop(
	channels: readonly Channel[],
	{ perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<LoopResult & { waitingMax: number }> {
	const account = new Account();
	const startedMs = performance.now();
	const total = Math.round(perSecond * seconds);
	const free = [...channels];
	const underWay = new Set<Promise<void>>();
	let next = 0;
	let waitingMax = 0;
	const dispatch = () => {
		const due = Math.min(total, Math.floor(((performance.now() - startedMs) * perSecond) / 1000) + 1);
		while (next < due && free.length > 0) {
			const channel = free.pop();
			if (channel === undefined) break;
			const number = next++;
			const sent = account.send(channel, number, startedMs + (number * 1000) / perSecond).then(() => {
				underWay.delete(sent);
				free.push(channel);
				dispatch();
			});
			underWay.add(sent);
		}
		waitingMax = Math.max(waitingMax, due - next);
	};
	while (next < total) {
		dispatch();
		await new Promise((resolve) => setTimeout(resolve, 1));
	}
	await Promise.all(underWay);
	return { ...account.result(), waitingMax };
}
