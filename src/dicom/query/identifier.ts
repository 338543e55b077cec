import { type CharacterSet, characterSetOf, defaultCharacterSet } from '../character-set.ts';
import { DataSetFeed } from '../data-set-feed.ts';
import { standardVrOf } from '../dictionary.ts';
import { type DataSetVisitor, wish } from '../element-walk.ts';
import { tagOf } from '../elements.ts';
import { DataSetError, type DataSetFault } from '../fault.ts';

/** The identifier of a query or retrieval, its top-level elements decoded. */
export interface Identifier {
	/** (0008,0005) as sent; '' without. */
	characterSet: string;
	/** Text by tag; numbers and sequences with content as `undefined`. */
	elements: ReadonlyMap<number, string | undefined>;
}

const specificCharacterSet = tagOf('SpecificCharacterSet');
const binary: ReadonlySet<string> = new Set('AT FL FD OB OD OF OL OV OW SL SS SV UL UN UV'.split(' '));

class Collector implements DataSetVisitor {
	readonly elements = new Map<number, string | undefined>();
	readonly vrOf = standardVrOf;
	characterSet = '';
	#decoding: CharacterSet = defaultCharacterSet;

	element(tag: number, vr: string, length: number) {
		if (this.elements.has(tag)) throw new DataSetError('structure', 'an element occurs twice');
		// Sequences are no keys here, and numbers none but US.
		const isText = vr !== 'SQ' && !binary.has(vr);
		this.elements.set(tag, isText || length === 0 ? '' : undefined);
		return isText && length > 0 ? wish.take : wish.skip;
	}

	value(tag: number, vr: string, bytes: Buffer, littleEndian: boolean): void {
		if (tag === specificCharacterSet) {
			this.characterSet = bytes.toString('latin1').replace(/[\0 ]+$/, '');
			this.#decoding = characterSetOf(this.characterSet);
		}
		if (vr === 'US' || vr === 'XS') {
			this.elements.set(tag, bytes.length === 2 ? String(littleEndian ? bytes.readUInt16LE(0) : bytes.readUInt16BE(0)) : undefined);
		} else this.elements.set(tag, this.#decoding.decode(bytes).replace(/[\0 ]+$/, ''));
	}

	itemStart(): void {}
	itemEnd(): void {}
	sequenceEnd(): void {}
}

/** Reads an identifier while it arrives. */
export class IdentifierReader {
	readonly #collector = new Collector();
	readonly #feed: DataSetFeed;

	constructor(transferSyntaxUid: string, bytesMax: number) {
		this.#feed = new DataSetFeed(transferSyntaxUid, this.#collector, bytesMax);
	}

	feed(chunk: Buffer): void {
		this.#feed.feed(chunk);
	}

	/** Called once, when there is no more. */
	end(): Identifier | { fault: DataSetFault } {
		const fault = this.#feed.end();
		const { characterSet, elements } = this.#collector;
		return fault ? { fault } : { characterSet, elements };
	}
}
