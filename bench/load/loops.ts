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
	#ofSecond = new Latencies();
	readonly #startedMs = performance.now();
	#lastMs = this.#startedMs;
	accepted = 0;
	failed = 0;

	async send(channel: Channel, number: number, dueMs: number): Promise<void> {
		const isAccepted = await channel.send(number).catch(() => false);
		this.#lastMs = performance.now();
		this.#latencies.record(this.#lastMs - dueMs);
		this.#ofSecond.record(this.#lastMs - dueMs);
		if (isAccepted) this.accepted += 1;
		else this.failed += 1;
	}

	/** The answers since the last call. */
	takeSecond(): { answered: number; p99Ms: number } {
		const taken = this.#ofSecond;
		this.#ofSecond = new Latencies();
		return { answered: taken.count, p99Ms: taken.percentile(99) };
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

/** A second of an open loop: how many requests are due and wait for a channel, how many were answered and how long the slowest took. */
export interface OpenSecond {
	waiting: number;
	answered: number;
	p99Ms: number;
}

export interface OpenOptions {
	/** The channel over which the request of this number has to go; by default any that is free. */
	channelOf?: (number: number) => number;
	onSecond?: (second: OpenSecond) => void;
}

/** Tells when requests fall due at a fixed rate, in milliseconds from the start. */
export function steady(perSecond: number, seconds: number): Float64Array {
	return Float64Array.from({ length: Math.round(perSecond * seconds) }, (_, number) => (number * 1000) / perSecond);
}

/**
 * Requests fall due at times that are given, whether or not the ones before are answered; a time is counted from when its request was due. One
 * that finds no free channel waits, and that wait counts (no coordinated omission). Timers tick each millisecond, so times are up to one too long.
 */
export async function openLoop(
	channels: readonly Channel[],
	arrivals: Float64Array,
	{ channelOf, onSecond }: OpenOptions = {},
): Promise<LoopResult & { waitingMax: number }> {
	const account = new Account();
	const startedMs = performance.now();
	const total = arrivals.length;
	const dueMs = (number: number) => startedMs + (arrivals[number] ?? 0);
	const queues = channelOf === undefined ? [[]] : channels.map((): number[] => []);
	const underWay = new Set<Promise<void>>();
	let next = 0;
	let waiting = 0;
	let waitingMax = 0;
	const serve = async (channel: Channel, queue: number[]) => {
		for (let number = queue.shift(); number !== undefined; number = queue.shift()) {
			waiting -= 1;
			await account.send(channel, number, dueMs(number));
		}
	};
	const isBusy = channels.map(() => false);
	const start = (index: number, queue: number[]) => {
		const channel = channels[index];
		if (channel === undefined || isBusy[index]) return;
		isBusy[index] = true;
		const served = serve(channel, queue).then(() => {
			isBusy[index] = false;
			underWay.delete(served);
		});
		underWay.add(served);
	};
	let secondsTold = 0;
	while (next < total) {
		for (const nowMs = performance.now(); next < total && dueMs(next) <= nowMs; next++) {
			const index = channelOf?.(next) ?? 0;
			queues[index]?.push(next);
			waiting += 1;
			if (channelOf !== undefined) start(index, queues[index] ?? []);
		}
		if (channelOf === undefined) {
			const [queue = []] = queues;
			for (let index = 0; index < channels.length && queue.length > 0; index++) start(index, queue);
		}
		waitingMax = Math.max(waitingMax, waiting);
		if (performance.now() - startedMs >= (secondsTold + 1) * 1000) {
			secondsTold += 1;
			onSecond?.({ waiting, ...account.takeSecond() });
		}
		await new Promise((resolve) => setTimeout(resolve, 1));
	}
	await Promise.all(underWay);
	return { ...account.result(), waitingMax };
}
