import { nilId } from '#core/id.ts';
import type { Delivery, Reply } from '#record/delivery.ts';

/** Upper bounds of the times of acknowledgement, in milliseconds. One more bucket holds all that took longer. */
export const acknowledgedMs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000] as const;

/**
 * Minutes of feeds that wait for a database that is away: ten feeds for more than a day. They are figures only, so beyond this the oldest are given
 * up, and it is no setting.
 */
export const minutesKeptMax = 20_000;

/** Traffic that no client and no key accounts for. */
export const unmatchedFeed = 'unmatched';
/** Images of a site without DICOM clients, which takes those of nearby senders. */
export const nearbyFeed = 'nearby';

/** The figures of one feed in one minute. */
export interface FeedMinute {
	/** The nil id for traffic that belongs to no site. */
	siteId: string;
	feed: string;
	/** Minutes since 1970. */
	minute: number;
	received: number;
	refused: number;
	lastMs: number;
	acknowledged: number[];
}

/** Edits of people and replays are no traffic of a sender. */
const isOfSender: Readonly<Record<Delivery['surface'], boolean>> = {
	...{ mllp: true, 'hl7-http': true, fhir: true, mpps: true, dimse: true, dicomweb: true },
	...{ replay: false, administration: false },
};

/** Names the feed of a delivery: its integration client, or on HTTP its key. */
function feedOf({ clientId, surface, source }: Delivery): string {
	if (clientId !== nilId) return clientId;
	return surface === 'dimse' ? nearbyFeed : source;
}

/**
 * Counts in memory what each feed sends. A message costs two look-ups and a few additions; `take` hands over what has come since the last time.
 * Nothing is kept of the messages themselves.
 */
export class FeedCounts {
	readonly #sites = new Map<string, Map<string, FeedMinute>>();
	/** Minutes that have ended since the last time, and those that could not be written: one for each feed and minute. */
	#ended = new Map<string, FeedMinute>();

	/** Counts a delivery that was carried out: its sender has the answer. */
	answered(delivery: Delivery, { outcome }: Pick<Reply, 'outcome'>, nowMs: number): void {
		const { surface, kind, siteId, receivedAtMs } = delivery;
		if (!isOfSender[surface] || kind === 'conflict') return;
		const minute = this.#minute(siteId, feedOf(delivery), nowMs);
		minute.received += 1;
		if (outcome === 'refused') minute.refused += 1;
		minute.lastMs = nowMs;
		const bucket = bucketOf(nowMs - receivedAtMs);
		minute.acknowledged[bucket] = (minute.acknowledged[bucket] ?? 0) + 1;
	}

	/** Counts a message that was refused before it could be delivered. */
	refused(siteId: string | undefined, feed: string, nowMs: number): void {
		const minute = this.#minute(siteId ?? nilId, feed, nowMs);
		minute.received += 1;
		minute.refused += 1;
		minute.lastMs = nowMs;
	}

	#minute(siteId: string, feed: string, nowMs: number): FeedMinute {
		let feeds = this.#sites.get(siteId);
		if (feeds === undefined) {
			feeds = new Map();
			this.#sites.set(siteId, feeds);
		}
		const minute = Math.floor(nowMs / 60_000);
		const held = feeds.get(feed);
		if (held?.minute === minute) return held;
		if (held !== undefined) this.#keep(held);
		const acknowledged = new Array<number>(acknowledgedMs.length + 1).fill(0);
		const begun = { siteId, feed, minute, received: 0, refused: 0, lastMs: nowMs, acknowledged };
		feeds.set(feed, begun);
		return begun;
	}

	/** Returns what was counted since the last time, and begins anew. */
	take(): FeedMinute[] {
		const taken = [...this.#ended.values()];
		this.#ended = new Map();
		for (const feeds of this.#sites.values()) taken.push(...feeds.values());
		this.#sites.clear();
		return taken;
	}

	/** Takes back what could not be written. */
	putBack(minutes: readonly FeedMinute[]): void {
		for (const minute of minutes) this.#keep(minute);
	}

	#keep(minute: FeedMinute): void {
		const key = `${minute.siteId} ${minute.feed} ${minute.minute}`;
		const held = this.#ended.get(key);
		if (held !== undefined) {
			held.received += minute.received;
			held.refused += minute.refused;
			held.lastMs = Math.max(held.lastMs, minute.lastMs);
			addTo(held.acknowledged, minute.acknowledged);
			return;
		}
		this.#ended.set(key, minute);
		const [oldest] = this.#ended.keys();
		if (this.#ended.size > minutesKeptMax && oldest !== undefined) this.#ended.delete(oldest);
	}
}

function addTo(sums: number[], counts: readonly number[]): void {
	for (const [index, count] of counts.entries()) sums[index] = (sums[index] ?? 0) + count;
}

function bucketOf(ms: number): number {
	let bucket = 0;
	while (bucket < acknowledgedMs.length && ms > (acknowledgedMs[bucket] ?? 0)) bucket += 1;
	return bucket;
}

/** The figures of one feed in one hour, as a row has them. */
export interface FeedHour {
	siteId: string;
	feed: string;
	hourMs: number;
	lastMs: number;
	received: number[];
	refused: number[];
	acknowledged: number[];
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Adds minutes up to hours, in the order of their keys: processes that write at the same time do not wait for each other in a circle. */
export function hoursOf(minutes: readonly FeedMinute[]): (FeedHour & { receivedSum: number; refusedSum: number })[] {
	const hours = new Map<string, FeedHour>();
	for (const { siteId, feed, minute, received, refused, lastMs, acknowledged } of minutes) {
		const hourMs = Math.floor(minute / 60) * 3_600_000;
		const key = `${siteId} ${feed} ${hourMs}`;
		let hour = hours.get(key);
		if (hour === undefined) {
			const none = (length: number) => new Array<number>(length).fill(0);
			hour = { siteId, feed, hourMs, lastMs, received: none(60), refused: none(60), acknowledged: none(acknowledgedMs.length + 1) };
			hours.set(key, hour);
		}
		const at = minute % 60;
		hour.received[at] = (hour.received[at] ?? 0) + received;
		hour.refused[at] = (hour.refused[at] ?? 0) + refused;
		hour.lastMs = Math.max(hour.lastMs, lastMs);
		addTo(hour.acknowledged, acknowledged);
	}
	return [...hours]
		.sort(([left], [right]) => (left < right ? -1 : 1))
		.map(([, hour]) => ({ ...hour, receivedSum: sum(hour.received), refusedSum: sum(hour.refused) }));
}
