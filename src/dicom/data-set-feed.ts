import { type DataSetVisitor, ElementWalk } from './element-walk.ts';
import { DataSetError, type DataSetFault } from './fault.ts';
import { Inflate, InflateError } from './inflate.ts';
import { encodingOf } from './transfer-syntax.ts';

/** Sequences of real objects are nested a few levels deep; the bound keeps the stack small. */
const depthMax = 64;

/** The bytes of a data set on their way to a visitor, inflated where they are deflated; the first fault ends it. */
export class DataSetFeed {
	readonly #walk: ElementWalk;
	readonly #inflate: Inflate | undefined;
	#inflated = 0;
	#isFed = false;
	#fault: DataSetFault | undefined;

	/** `bytesMax`: element headers and values that the visitor takes, and everything up to its stop in a deflated data set. */
	constructor(transferSyntaxUid: string, visitor: DataSetVisitor, bytesMax: number) {
		const encoding = encodingOf(transferSyntaxUid);
		this.#walk = new ElementWalk(encoding, visitor, { bytesMax, depthMax });
		if (!encoding.deflated) return;
		this.#inflate = new Inflate((piece) => {
			this.#inflated += piece.length;
			// The rest is inflated elsewhere, where it does not hold up everything else.
			if (!this.#walk.feed(piece) || this.#walk.isPassing) return false;
			if (this.#inflated > bytesMax) throw new DataSetError('too-large', 'the elements before the pixel data are too large');
			return true;
		});
	}

	/** As `ElementWalk.offset`; of a deflated data set, in what it inflates to. */
	get offset(): number {
		return this.#walk.offset;
	}

	/** True: the visitor has seen what it wants, and the rest is only walked through. */
	get isPassing(): boolean {
		return this.#walk.isPassing;
	}

	/** Takes the value at hand for fed as far as `most` bytes go; returns how many they were. */
	passOver(most: number): number {
		return this.#fault ? most : this.#walk.passOver(most);
	}

	/** True: wants more. False: the visitor stopped, or there is a fault. The chunk is not kept. */
	feed(chunk: Uint8Array): boolean {
		if (this.#fault || this.#walk.isStopped) return false;
		this.#isFed ||= chunk.length > 0;
		return this.#guarded(() => {
			if (this.#inflate) this.#inflate.feed(chunk);
			else this.#walk.feed(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
			return !this.#walk.isStopped;
		});
	}

	/** There is no more to feed: the fault, if there is one. */
	end(): DataSetFault | undefined {
		this.#guarded(() => {
			if (!this.#isFed) throw new DataSetError('truncated', 'the data set is empty');
			if (this.#inflate && !this.#inflate.ended) throw new DataSetError('truncated', 'the deflated data set is not whole');
			this.#walk.end();
			return true;
		});
		return this.#fault;
	}

	/** There is no more to feed, and only a data set that is cut off is a fault. That of a deflated one is not known. */
	cut(): DataSetFault | undefined {
		const fault = this.#inflate ? undefined : this.end();
		return fault?.kind === 'truncated' ? fault : undefined;
	}

	/** Runs what may find a fault; false when it did, now or before. */
	#guarded(read: () => boolean): boolean {
		if (this.#fault) return false;
		try {
			return read();
		} catch (error) {
			if (error instanceof DataSetError) this.#fault = error.fault;
			else if (error instanceof InflateError) this.#fault = { kind: 'encoding', text: 'the data set is not deflated' };
			else throw error;
			return false;
		}
	}
}
