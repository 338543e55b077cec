import { DataSetFeed } from './data-set-feed.ts';
import { standardVrOf } from './dictionary.ts';
import { type DataSetVisitor, wish } from './element-walk.ts';
import type { DataSetFault } from './fault.ts';
import { encodingOf, explicitLittleEndian } from './transfer-syntax.ts';

const passing: DataSetVisitor = {
	element: () => wish.pass,
	value: () => undefined,
	itemStart: () => undefined,
	itemEnd: () => undefined,
	sequenceEnd: () => undefined,
	vrOf: standardVrOf,
};

/** Walks through a data set by the lengths of its elements, and tells whether it is cut off. A deflated one is fed inflated. */
export class WholenessReader {
	readonly #feed: DataSetFeed;

	constructor(transferSyntaxUid: string) {
		// A deflated data set is written in Explicit VR Little Endian (PS3.5 §A.5).
		const inflated = encodingOf(transferSyntaxUid).deflated ? explicitLittleEndian : transferSyntaxUid;
		// Nothing is kept after the header of the first element.
		this.#feed = new DataSetFeed(inflated, passing, 64);
	}

	/** False: the data set cannot be walked through, so it is not known to be cut off. The chunk is not kept. */
	feed(chunk: Uint8Array): boolean {
		return this.#feed.feed(chunk);
	}

	/** Takes bytes of a value for fed, at most so many; returns how many they were. */
	passOver(most: number): number {
		return this.#feed.passOver(most);
	}

	/** Called once, after the last byte: the fault of a data set that is cut off. */
	cut(): DataSetFault | undefined {
		return this.#feed.cut();
	}
}
