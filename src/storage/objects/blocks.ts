/** Large enough for one call to the disk to be worth its way through the thread pool. */
export const blockBytes = 256 * 1024;
/** The number of blocks that stay allocated when nothing is written: 16 MiB. */
const freeMax = 64;
const wasmPageBytes = 64 * 1024;

/** TypeScript knows WebAssembly only with the types of browsers. */
const { Memory } = (
	globalThis as unknown as { WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer } } }
).WebAssembly;

/** Blocks that were allocated together. The memory of WebAssembly begins at a page, which O_DIRECT asks for; that of a Buffer does not. */
interface Slab {
	free: Buffer[];
	blocks: number;
}

const slabs = new Map<ArrayBufferLike, Slab>();
let inUse = 0;

/** Tells whether so many objects are being written that each should buffer less. */
export function areMany(): boolean {
	return inUse > freeMax;
}

/** The blocks of this thread that hold what was not written yet. */
export function blocksInUse(): number {
	return inUse;
}

function allocate(): ArrayBufferLike {
	const pages = (freeMax * blockBytes) / wasmPageBytes;
	try {
		return new Memory({ initial: pages, maximum: pages }).buffer;
	} catch (error) {
		// Each takes some gigabytes of addresses, which a process may not be allowed. Such blocks are written through the page cache.
		if (!(error instanceof RangeError)) throw error;
		return new ArrayBuffer(freeMax * blockBytes);
	}
}

function next(): Buffer {
	inUse += 1;
	for (const { free } of slabs.values()) {
		const block = free.pop();
		if (block !== undefined) return block;
	}
	const memory = allocate();
	const free = Array.from({ length: freeMax }, (_, index) => Buffer.from(memory, index * blockBytes, blockBytes));
	slabs.set(memory, { free, blocks: free.length });
	return free.pop() as Buffer;
}

/** Returns blocks that `take` returned. Nobody may use them afterwards. */
export function release(blocks: readonly Buffer[]): void {
	inUse -= blocks.length;
	for (const block of blocks) {
		const slab = slabs.get(block.buffer);
		if (slab === undefined) throw new Error('a block was given back that nobody had taken');
		slab.free.push(Buffer.from(block.buffer, Math.floor(block.byteOffset / blockBytes) * blockBytes, blockBytes));
		if (slab.free.length === slab.blocks && slabs.size > 1) slabs.delete(block.buffer);
	}
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
