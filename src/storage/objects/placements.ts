import type { Placing } from '#record/delivery.ts';

const state = { pending: 0, durable: 1, failed: 2 } as const;
/** A word holds a state in its lowest bits, and above them how often its slot was taken. */
const stateBits = 2;
/** Further objects are not waited for in a transaction. It is far above the number of associations that a process has at work at once. */
const slotsMax = 1024;
/**
 * A disk that took this long for an object, or takes longer for one now, is not waited for while a site's turn is held. A disk in order
 * takes some milliseconds.
 */
const slowMs = 25;
/** A batch waits so long for a disk that was fast until now. */
const waitMsMax = 50;

/** Makes the memory by which threads tell each other which objects are durable. */
export function placementsMemory(): SharedArrayBuffer {
	return new SharedArrayBuffer(slotsMax * Int32Array.BYTES_PER_ELEMENT);
}

function wordOf(turn: number, told: number): number {
	return (turn << stateBits) | told;
}

/**
 * Objects that one thread writes while another thread, or the same one, puts them into the index. A slot is taken again and again; its number of
 * turns tells an object from those before and after it, so nobody takes another object's end for that of his own.
 */
export class Placements {
	readonly #words: Int32Array<SharedArrayBuffer>;
	readonly #free: number[] = [];
	/** The objects under way, and since when: the oldest first. */
	readonly #underWay = new Map<number, number>();
	#used = 0;
	#tookMs = 0;

	constructor(memory: SharedArrayBuffer) {
		this.#words = new Int32Array(memory);
	}

	/** A batch that waits for a slow disk holds up all messages of its sites. */
	#isFast(nowMs: number): boolean {
		const [oldest = nowMs] = this.#underWay.values();
		return this.#tookMs < slowMs && nowMs - oldest < slowMs;
	}

	#measure(durable: Promise<void>, startedMs: number): void {
		const ended = () => {
			this.#tookMs = performance.now() - startedMs;
		};
		durable.then(ended, ended);
	}

	/**
	 * Takes a slot for an object whose writing has begun. Undefined while the disk is slow: then the row has to wait for the object. Only the
	 * thread that writes the objects calls this and `end`.
	 */
	begin(durable: Promise<void>, startedMs: number): Placing | undefined {
		this.#measure(durable, startedMs);
		if (!this.#isFast(startedMs) || (this.#free.length === 0 && this.#used === this.#words.length)) return undefined;
		const slot = this.#free.pop() ?? this.#used++;
		const turn = ((Atomics.load(this.#words, slot) >>> stateBits) + 1) & (2 ** (31 - stateBits) - 1);
		Atomics.store(this.#words, slot, wordOf(turn, state.pending));
		this.#underWay.set(slot, startedMs);
		const tell = (told: number) => {
			this.#underWay.delete(slot);
			Atomics.store(this.#words, slot, wordOf(turn, told));
			Atomics.notify(this.#words, slot);
		};
		durable.then(
			() => tell(state.durable),
			() => tell(state.failed),
		);
		return { slot, turn };
	}

	/** Gives the slot back: the object's end has been told, and nobody will ask for it any more. */
	end({ slot }: Placing): void {
		this.#free.push(slot);
	}

	/** Tells whether the object is durable. If that is not known within a short time, it counts as not durable. */
	async isDurable({ slot, turn }: Placing): Promise<boolean> {
		const pending = wordOf(turn, state.pending);
		const told = Atomics.waitAsync(this.#words, slot, pending, waitMsMax);
		if (told.async) await told.value;
		return Atomics.load(this.#words, slot) === wordOf(turn, state.durable);
	}
}
