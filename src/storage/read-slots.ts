/** What a connection for reads has to do. */
export interface SlotLoad {
	/** Undefined while it is not open. */
	readonly open: unknown;
	inFlight: number;
	/** The time that the statements in flight are expected to take. */
	expectedMs: number;
	/** The time at which the last statement ended, or at which the first one was sent after a pause. */
	progressMs: number;
	/** Failed attempts to connect since the last successful one. */
	failures: number;
	/** The next attempt to connect must not be made before this moment. */
	notBeforeMs: number;
}

/**
 * A connection is given further reads while those that it has are expected to take less than this, in ms. To wake another backend costs this thread
 * and the server more than a short read does.
 */
const sharedMsMax = 1;
/** After so many ms without an answer a connection is not shared any more: its read takes longer than was expected. */
const stalledMs = 2;

/**
 * Returns the first connection that will soon be done with what it has; for a read that takes long, and where there is none, the least busy one.
 * @param expectedMs the time that the read is expected to take
 * @param now `nowMs` by the clock of `progressMs`, `dateMs` by that of `notBeforeMs`
 */
export function chosenSlot<Slot extends SlotLoad>(slots: readonly Slot[], expectedMs: number, now: Now): Slot | undefined {
	const shared = expectedMs < sharedMsMax ? slots.find((slot) => isShared(slot, now.nowMs)) : undefined;
	return shared ?? leastBusy(slots, now);
}

interface Now {
	nowMs: number;
	dateMs: number;
}

function isShared({ open, inFlight, expectedMs, progressMs }: SlotLoad, nowMs: number): boolean {
	return open !== undefined && (inFlight === 0 || (expectedMs < sharedMsMax && nowMs - progressMs < stalledMs));
}

/** The time for which a connection has something to do: a read that has taken longer than was expected will go on for as long, for all one knows. */
function loadMs({ inFlight, expectedMs, progressMs }: SlotLoad, nowMs: number): number {
	return inFlight === 0 ? 0 : Math.max(expectedMs, nowMs - progressMs);
}

/** A connection that could not be opened is used only when that holds for all of them. `openAll` tries it again. */
function leastBusy<Slot extends SlotLoad>(slots: readonly Slot[], { nowMs, dateMs }: Now): Slot | undefined {
	const waits = (slot: Slot) => (slot.open !== undefined || slot.failures === 0 ? 0 : dateMs < slot.notBeforeMs ? 2 : 1);
	let best: Slot | undefined;
	for (const slot of slots) {
		if (best === undefined || (waits(slot) - waits(best) || loadMs(slot, nowMs) - loadMs(best, nowMs)) < 0) best = slot;
	}
	return best;
}
