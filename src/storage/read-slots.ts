/** Describes what a connection for reads has to do. */
export interface SlotLoad {
	/** Undefined while it is not open. */
	readonly open: unknown;
	inFlight: number;
	/** Those of them that are expected to take long. */
	longInFlight: number;
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
/**
 * So many short reads share a connection. To wake another backend costs this thread and the server more than a short read does. It is a number and no
 * time, because reads seem to take longer while they are spread, and would stay so.
 */
const sharedMax = 8;
/** After so many ms without an answer a connection is not shared any more: its read takes longer than was expected. */
const stalledMs = 2;

/**
 * Returns the first connection that has few short reads; for a long one, and where there is none, the least busy one.
 * @param expectedMs the time that the read is expected to take
 * @param now `nowMs` by the clock of `progressMs`, `dateMs` by that of `notBeforeMs`
 */
export function chosenSlot<Slot extends SlotLoad>(slots: readonly Slot[], expectedMs: number, now: Now): Slot | undefined {
	const shared = isLong(expectedMs) ? undefined : slots.find((slot) => isShared(slot, now.nowMs));
	return shared ?? leastBusy(slots, now);
}

export function isLong(expectedMs: number): boolean {
	return expectedMs >= longMs;
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
function leastBusy<Slot extends SlotLoad>(slots: readonly Slot[], { nowMs, dateMs }: Now): Slot | undefined {
	const waits = (slot: Slot) => (slot.open !== undefined || slot.failures === 0 ? 0 : dateMs < slot.notBeforeMs ? 2 : 1);
	let best: Slot | undefined;
	for (const slot of slots) {
		if (best === undefined || (waits(slot) - waits(best) || loadMs(slot, nowMs) - loadMs(best, nowMs)) < 0) best = slot;
	}
	return best;
}
