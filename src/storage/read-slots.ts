/** What a connection for reads has to do. */
export interface SlotLoad {
	/** Undefined while it is not open. */
	readonly open: unknown;
	inFlight: number;
	/** The time that the statements in flight are expected to take. */
	expectedMs: number;
	/** The time at which the last statement ended, or at which the first one was sent behind a pause. */
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
/** From so many ms without an answer on, a connection is given nothing behind what it has: its read takes longer than was expected. */
const stalledMs = 2;

/**
 * Returns the first connection that has soon done what it has; else the least busy one.
 * @param now `nowMs` by the clock of `progressMs`, `dateMs` by that of `notBeforeMs`
 */
export function chosenSlot<Slot extends SlotLoad>(slots: readonly Slot[], now: { nowMs: number; dateMs: number }): Slot | undefined {
	return slots.find((slot) => isShared(slot, now.nowMs)) ?? leastBusy(slots, now.dateMs);
}

function isShared({ open, inFlight, expectedMs, progressMs }: SlotLoad, nowMs: number): boolean {
	return open !== undefined && (inFlight === 0 || (expectedMs < sharedMsMax && nowMs - progressMs < stalledMs));
}

/** A connection that could not be opened is used only when that holds for all of them. `openAll` tries it again. */
function leastBusy<Slot extends SlotLoad>(slots: readonly Slot[], dateMs: number): Slot | undefined {
	const waits = (slot: Slot) => (slot.open !== undefined || slot.failures === 0 ? 0 : dateMs < slot.notBeforeMs ? 2 : 1);
	let best: Slot | undefined;
	for (const slot of slots) {
		if (best === undefined || (waits(slot) - waits(best) || slot.inFlight - best.inFlight || slot.expectedMs - best.expectedMs) < 0)
			best = slot;
	}
	return best;
}
