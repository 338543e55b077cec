/** Large enough for one call to the disk to be worth its way through the thread pool. */
export const blockBytes = 256 * 1024;
/** The number of blocks that stay allocated when nothing is written: 16 MiB. */
const freeMax = 64;

const free: Buffer[] = [];
let inUse = 0;

/** Tells whether so many objects are being written that each should buffer less. */
export function areMany(): boolean {
	return inUse > freeMax;
}

function next(): Buffer {
	inUse += 1;
	return free.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
}

/** Returns blocks that `take` returned. Nobody may use them afterwards. */
export function release(blocks: readonly Buffer[]): void {
	inUse -= blocks.length;
	for (const block of blocks) if (free.length < freeMax) free.push(Buffer.from(block.buffer, 0, blockBytes));
}

/**
 * Copies pieces of any size into reused blocks of memory. Allocating each piece would cost the garbage collector more time than the copies.
 */
export class Blocks {
	#full: Buffer[] = [];
	#open: Buffer | undefined;
	#filled = 0;

	get bytes(): number {
		return this.#full.length * blockBytes + this.#filled;
	}

	add(piece: Uint8Array): void {
		for (let at = 0; at < piece.length; ) {
			this.#open ??= next();
			const count = Math.min(piece.length - at, blockBytes - this.#filled);
			this.#open.set(piece.subarray(at, at + count), this.#filled);
			this.#filled += count;
			at += count;
			if (this.#filled < blockBytes) continue;
			this.#full.push(this.#open);
			this.#open = undefined;
			this.#filled = 0;
		}
	}

	/** Returns everything that was added and empties the blocks. */
	take(): Buffer[] {
		const taken = this.#open === undefined ? this.#full : [...this.#full, this.#open.subarray(0, this.#filled)];
		this.#full = [];
		this.#open = undefined;
		this.#filled = 0;
		return taken;
	}
}
