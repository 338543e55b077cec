/** Describes what a connection for reads has to do. */
export interface SlotLoad {
	/** Undefined while it is not open. */
	readonly open: unknown;
	inFlight: number;
	/** Those of them that are expected to take long. */
	longInFlight: number;
	/** Those of them that are slow. */
	slowInFlight: number;
	/** The time that the statements in flight are expected to take. */
	expectedMs: number;
	/** The time at which the last statement ended, or at which the first one was sent after a pause. */
	progressMs: number;
	/** Failed attempts to connect since the last successful one. */
	failures: number;
	/** The next attempt to connect must not be made before this moment. */
	notBeforeMs: number;
}

/** A read that is expected to take so many ms is long, and nothing is put behind it. */
const longMs = 1;
/** One that is expected to take so many ms is slow, and takes its site's share of the connections. A statement that nobody has seen yet counts as one. */
export const slowMs = 5;
/**
 * So many short reads share a connection. To wake another backend costs this thread and the server more than a short read does. It is a number and no
 * time, because reads seem to take longer while they are spread, and would stay so.
 */
const sharedMax = 8;
/** After so many ms without an answer a connection is not shared any more: its read takes longer than was expected. */
const stalledMs = 2;
/**
 * Slow reads are sent behind one another while they are expected to take so many ms together, and the one before them does not take longer than this. What
 * is behind it on a connection cannot go elsewhere.
 */
const pipelinedMs = 20;
/** With so many connections and more, the first is left to others than slow reads. With fewer, slow ones need them all. */
const keptFrom = 3;

/**
 * Returns the first connection that has few short reads; for a long one, and where there is none, the least busy one.
 * @param expectedMs the time that the read is expected to take
 * @param now `nowMs` by the clock of `progressMs`, `dateMs` by that of `notBeforeMs`
 */
export function chosenSlot<Slot extends SlotLoad>(slots: readonly Slot[], expectedMs: number, now: Now): Slot | undefined {
	const shared = isLong(expectedMs) ? undefined : slots.find((slot) => isShared(slot, now.nowMs));
	// A slow read may take a thousand times as long as all that stands before it elsewhere.
	return shared ?? leastBusy(slots, now, (slot) => slot.slowInFlight === 0 && mayBeOpened(slot)) ?? leastBusy(slots, now);
}

/** What the choice for a slow read depends on. */
export interface SlowLoad extends SlotLoad {
	/** The number of slow reads that each site has in flight here. */
	readonly slowOf: ReadonlyMap<string, number>;
}

/**
 * Returns the least busy connection that a slow read may take now; undefined when it has to wait. Those of a site take half of the connections, so that
 * one slow site leaves some to the slow reads of others, and all of them together leave the first one to reads that are not slow.
 */
export function slowSlot<Slot extends SlowLoad>(slots: readonly Slot[], { expectedMs, siteId }: SlowRead, now: Now): Slot | undefined {
	const others = slots.length < keptFrom ? slots : slots.slice(1);
	const places = others.some(mayBeOpened) ? others : slots;
	const has = ({ slowOf }: Slot) => siteId !== undefined && slowOf.has(siteId);
	const mayTakeMore = places.filter(has).length < Math.max(1, Math.floor(slots.length / 2));
	return leastBusy(places, now, (slot) => (mayTakeMore || has(slot)) && takesSlow(slot, expectedMs, now.nowMs));
}

/** It is open, or the last attempt to open it did not fail. */
function mayBeOpened({ open, failures }: SlotLoad): boolean {
	return open !== undefined || failures === 0;
}

interface SlowRead {
	expectedMs: number;
	/** Undefined for a read that is about no single site: it takes nobody's share. */
	siteId: string | undefined;
}

function takesSlow(slot: SlotLoad, expectedMs: number, nowMs: number): boolean {
	return slot.slowInFlight === 0 || (slot.expectedMs + expectedMs <= pipelinedMs && nowMs - slot.progressMs < pipelinedMs);
}

/** A read that was not expected to be slow is known to be so after so many ms. Shorter pauses may be those of a busy machine. */
export const lookMs = 100;

/** Tells whether the read that is answered next takes much longer than one that is not slow. */
export function isStalled({ inFlight, progressMs }: SlotLoad, nowMs: number): boolean {
	return inFlight > 0 && nowMs - progressMs >= lookMs;
}

export function isLong(expectedMs: number): boolean {
	return expectedMs >= longMs;
}

export function isSlow(expectedMs: number): boolean {
	return expectedMs >= slowMs;
}

interface Now {
	nowMs: number;
	dateMs: number;
}

function isShared({ open, inFlight, longInFlight, progressMs }: SlotLoad, nowMs: number): boolean {
	if (open === undefined) return false;
	return inFlight === 0 || (longInFlight === 0 && inFlight < sharedMax && nowMs - progressMs < stalledMs);
}

/** The time for which a connection has something to do: a read that has taken longer than was expected will go on for as long, for all one knows. */
function loadMs({ inFlight, expectedMs, progressMs }: SlotLoad, nowMs: number): number {
	return inFlight === 0 ? 0 : Math.max(expectedMs, nowMs - progressMs);
}

/** A connection that could not be opened is used only when that holds for all of them. `openAll` tries it again. */
function leastBusy<Slot extends SlotLoad>(
	slots: readonly Slot[],
	{ nowMs, dateMs }: Now,
	isMeant: (slot: Slot) => boolean = () => true,
): Slot | undefined {
	const waits = (slot: Slot) => (slot.open !== undefined || slot.failures === 0 ? 0 : dateMs < slot.notBeforeMs ? 2 : 1);
	let best: Slot | undefined;
	for (const slot of slots) {
		if (!isMeant(slot)) continue;
		if (best === undefined || (waits(slot) - waits(best) || loadMs(slot, nowMs) - loadMs(best, nowMs)) < 0) best = slot;
	}
	return best;
}
