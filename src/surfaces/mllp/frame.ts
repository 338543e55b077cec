/**
 * Reads blocks of the Minimal Lower Layer Protocol (HL7 v2.5.1 Appendix C §C.4; Transport Specification: MLLP, Release 1):
 * `<VT> data <FS><CR>`. The reader is a pure function of the bytes: it does not matter how they were divided into chunks.
 * - A FS ends the block when CR, LF, VT or another FS follows, or nothing for a while (`settle`): some senders omit the CR, which belongs to
 * the block. Before anything else it is data. HL7 allows no 0x1C there, so the message is refused, but as a whole.
 * - Bytes outside a block are skipped and counted.
 * - A VT inside a block restarts it when a header segment follows: the sender gave up the earlier block without ending it. Any other VT
 * is data (word processors write it as a soft line break), except for repeated ones at the start.
 */
const startOfBlock = 0x0b;
const endOfBlock = 0x1c;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

function endsBlock(behind: number | undefined): boolean {
	return behind === carriageReturn || behind === startOfBlock || behind === lineFeed || behind === endOfBlock;
}

/** The bytes kept of a block over the limit: enough for MSH, from which its answer is built. */
const headBytesMax = 8192;
/** Smaller chunks are gathered into larger pieces, so that a block sent byte by byte costs its own size and not 100 times that. */
const smallChunkBytes = 16_384;
/** A buffer size: it does not change what is received. */
const pieceBytesMax = 65_536;

export type Frame =
	| { kind: 'message'; bytes: Uint8Array }
	/** A block over the limit: its first bytes and its length. */
	| { kind: 'too-long'; head: Uint8Array; length: number };

/** Counts of bytes that are no frame: `skipped` bytes between blocks, blocks `restarted` before their end, and `empty` blocks. */
export interface FrameCounts {
	skipped: number;
	restarted: number;
	empty: number;
}

function startsHeader(bytes: Buffer, at: number): boolean {
	if (at + 3 > bytes.length) return false;
	const id = bytes.toString('latin1', at, at + 3);
	return id === 'MSH' || id === 'FHS' || id === 'BHS';
}

/** A list of pieces that is joined once. */
class Gathering {
	length = 0;
	#pieces: Buffer[] = [];
	#open: Buffer | undefined;
	#openLength = 0;

	add(chunk: Buffer): void {
		this.length += chunk.length;
		if (chunk.length >= smallChunkBytes) {
			this.#seal();
			this.#pieces.push(chunk);
			return;
		}
		if (this.#open !== undefined && this.#openLength + chunk.length > this.#open.length) this.#seal();
		this.#open ??= Buffer.allocUnsafeSlow(Math.max(2 * chunk.length, Math.min(pieceBytesMax, Math.max(1024, this.length))));
		this.#openLength += chunk.copy(this.#open, this.#openLength);
	}

	#seal(): void {
		if (this.#open !== undefined) this.#pieces.push(this.#open.subarray(0, this.#openLength));
		this.#open = undefined;
		this.#openLength = 0;
	}

	/** Returns all bytes in one buffer and empties the gathering. */
	take(): Buffer {
		this.#seal();
		const [only] = this.#pieces;
		const bytes = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.length);
		this.#pieces = [];
		this.length = 0;
		return bytes;
	}
}

const endByte = Buffer.of(endOfBlock);

/** Copies a frame. While it waits in a mailbox, a view would keep the whole chunk in memory. */
function detached(bytes: Buffer): Uint8Array {
	return bytes.buffer.byteLength > 2 * bytes.length ? Uint8Array.prototype.slice.call(bytes) : bytes;
}

export class FrameReader {
	readonly #frameBytesMax: number;
	#state: 'between' | 'behind-end' | 'inside' | 'over-limit' = 'between';
	/** The last byte read inside a block is a FS: what comes next tells whether it ends the block. */
	#pendingEnd = false;
	/** The block has a FS inside. */
	#damaged = false;
	#gathering = new Gathering();
	#head: Uint8Array = new Uint8Array(0);
	#length = 0;
	#counts: FrameCounts = { skipped: 0, restarted: 0, empty: 0 };

	constructor(frameBytesMax: number) {
		this.#frameBytesMax = frameBytesMax;
	}

	/** True when a block was begun and has not ended. */
	get insideFrame(): boolean {
		return this.#state === 'inside' || this.#state === 'over-limit';
	}

	/** True when a block ends here unless more of it follows at once. */
	get mayEnd(): boolean {
		return this.#pendingEnd;
	}

	/** Ends the block that may end here, because nothing followed. */
	settle(): Frame[] {
		const frames: Frame[] = [];
		if (this.#pendingEnd) this.#end(frames);
		return frames;
	}

	/** Returns the counts since the last call. */
	takeCounts(): FrameCounts {
		const counts = this.#counts;
		this.#counts = { skipped: 0, restarted: 0, empty: 0 };
		return counts;
	}

	/** Returns the frames that end in this chunk, in order. */
	push(chunk: Buffer): Frame[] {
		const frames: Frame[] = [];
		let at = 0;
		if (this.#pendingEnd && chunk.length > 0) {
			if (endsBlock(chunk[0])) this.#end(frames);
			else this.#goOn(endByte);
		}
		while (at < chunk.length) at = this.insideFrame ? this.#readInside(chunk, at, frames) : this.#readBetween(chunk, at);
		return frames;
	}

	#readBetween(chunk: Buffer, from: number): number {
		const at = this.#state === 'behind-end' && chunk[from] === carriageReturn ? from + 1 : from;
		this.#state = 'between';
		const start = chunk.indexOf(startOfBlock, at);
		if (start === -1) {
			this.#counts.skipped += chunk.length - at;
			return chunk.length;
		}
		this.#counts.skipped += start - at;
		this.#state = 'inside';
		this.#length = 0;
		return start + 1;
	}

	#readInside(chunk: Buffer, at: number, frames: Frame[]): number {
		const end = chunk.indexOf(endOfBlock, at);
		const data = chunk.subarray(at, end === -1 ? chunk.length : end);
		this.#length += data.length;
		const isWhole = end !== -1 && endsBlock(chunk[end + 1]);
		if (isWhole && this.#gathering.length === 0 && this.#length === data.length && data.length <= this.#frameBytesMax) {
			this.#finish(data, frames);
			return end + 1;
		}
		this.#keep(data);
		if (end === -1) return chunk.length;
		if (isWhole) this.#end(frames);
		else if (end + 1 === chunk.length) this.#pendingEnd = true;
		else this.#goOn(chunk.subarray(end, end + 1));
		return end + 1;
	}

	/** Keeps a FS as data, since the block did not end there. */
	#goOn(data: Buffer): void {
		this.#pendingEnd = false;
		this.#damaged = true;
		this.#length += 1;
		this.#keep(data);
	}

	#end(frames: Frame[]): void {
		this.#pendingEnd = false;
		if (this.#state === 'over-limit') {
			frames.push({ kind: 'too-long', head: this.#head, length: this.#length });
			this.#head = new Uint8Array(0);
			this.#state = 'behind-end';
			this.#damaged = false;
		} else {
			this.#finish(this.#gathering.take(), frames);
		}
	}

	#keep(data: Buffer): void {
		if (this.#state === 'over-limit') return;
		if (this.#length <= this.#frameBytesMax) {
			this.#gathering.add(data);
			return;
		}
		const kept = this.#gathering.take();
		// The head is no longer than the limit, so that it does not depend on the chunk that exceeded it.
		const head = Math.min(headBytesMax, this.#frameBytesMax);
		this.#head = Uint8Array.from(Buffer.concat([kept.subarray(0, head), data.subarray(0, Math.max(0, head - kept.length))]));
		this.#state = 'over-limit';
	}

	#finish(data: Buffer, frames: Frame[]): void {
		this.#state = 'behind-end';
		let start = 0;
		while (data[start] === startOfBlock) start += 1;
		this.#counts.skipped += start;
		for (let at = data.indexOf(startOfBlock, start); at !== -1; at = data.indexOf(startOfBlock, at + 1)) {
			if (!startsHeader(data, at + 1)) continue;
			const given = data.subarray(start, at);
			// A sender that ended a block and wrote something before the next one gets an answer to both.
			if (this.#damaged && given.includes(endOfBlock)) frames.push({ kind: 'message', bytes: detached(given) });
			else this.#counts.restarted += 1;
			start = at + 1;
		}
		this.#damaged = false;
		if (start === data.length) this.#counts.empty += 1;
		else frames.push({ kind: 'message', bytes: detached(data.subarray(start)) });
	}
}

/** Wraps acknowledgements as blocks, in one buffer for one write. */
export function frameAll(messages: readonly Uint8Array[]): Buffer {
	const buffer = Buffer.allocUnsafe(messages.reduce((length, message) => length + message.length + 3, 0));
	let at = 0;
	for (const message of messages) {
		buffer[at] = startOfBlock;
		buffer.set(message, at + 1);
		at += message.length + 1;
		buffer[at] = endOfBlock;
		buffer[at + 1] = carriageReturn;
		at += 2;
	}
	return buffer;
}
