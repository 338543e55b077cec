import { Gathering } from './gathering.ts';
import { type AbortReason, type PduType, pduHeadBytes, pduTypes, valueHeadBytes } from './pdu.ts';

/** A piece of a presentation data value, as long as what arrived of it. */
export interface Fragment {
	kind: 'fragment';
	contextId: number;
	isCommand: boolean;
	/** The last piece of the last fragment of a command set or data set. */
	isLast: boolean;
	/** A view of the chunk that was fed, valid until the next one is, or `keep` was called. */
	bytes: Buffer;
}

export type PduEvent =
	/** The A-ASSOCIATE PDU that this side is sent, read whole. */
	| { kind: 'associate'; body: Buffer }
	/**
	 * `P-DATA-TF` when it begins, with its fragments following; any other when it was read whole, with its four bytes. Of the
	 * A-ASSOCIATE PDU that this side is never sent what it says does not matter: it is not read, and nothing after it.
	 */
	| { kind: 'pdu'; type: PduType; body: Buffer }
	| Fragment
	/** The bytes are no PDU that this side takes; nothing more is read. */
	| { kind: 'invalid'; reason: AbortReason };

export interface PduReaderLimits {
	/** The maximum length that was announced for P-DATA-TF. */
	dataBytesMax: number;
	associateBytesMax: number;
}

/** What the side that accepts associations is sent, or the one that requests them. */
type OwnAssociatePdu = 'A-ASSOCIATE-RQ' | 'A-ASSOCIATE-AC';

const nothing = Buffer.alloc(0);

/** PS3.8 §9.3.2: what stands before the variable items. */
const associateFixedBytes = 68;

/**
 * Reads PDUs from chunks of any size. Nothing of a P-DATA-TF is held back or copied: its pieces are given out as they come, and
 * whoever takes them says by not asking for the next that it has enough.
 */
export class PduReader {
	readonly #limits: PduReaderLimits;
	readonly #own: OwnAssociatePdu;
	readonly #head = Buffer.alloc(Math.max(pduHeadBytes, valueHeadBytes));
	#headLength = 0;
	#chunk: Buffer = Buffer.alloc(0);
	#at = 0;
	#part: 'pdu-head' | 'body' | 'value-head' | 'value' | 'invalid' = 'pdu-head';
	#type: PduType = 'A-ABORT';
	#body: Gathering;
	/** Of the PDU, and of the presentation data value within it. */
	#pduLeft = 0;
	#valueLeft = 0;
	#contextId = 0;
	#control = 0;

	constructor(limits: PduReaderLimits, own: OwnAssociatePdu = 'A-ASSOCIATE-RQ') {
		this.#limits = limits;
		this.#own = own;
		this.#body = new Gathering(limits.associateBytesMax);
	}

	/** A PDU was begun and has not ended. */
	get withinPdu(): boolean {
		return this.#part !== 'invalid' && (this.#part !== 'pdu-head' || this.#headLength > 0);
	}

	/** Takes the next chunk; the one before must have been read to its end (`next` gave undefined). */
	feed(chunk: Buffer): void {
		this.#chunk = chunk;
		this.#at = 0;
	}

	/** The chunk's memory is used for something else from now on: what is not read yet is copied. */
	keep(): void {
		const isRead = this.#part === 'invalid' || this.#at >= this.#chunk.length;
		this.#chunk = isRead ? nothing : Buffer.from(this.#chunk.subarray(this.#at));
		this.#at = 0;
	}

	/** Copies what came behind a chunk that was kept and is not read yet. */
	append(chunk: Buffer): void {
		if (this.#part === 'invalid') return;
		this.#chunk = Buffer.concat([this.#chunk.subarray(this.#at), chunk]);
		this.#at = 0;
	}

	/** Undefined: the chunk is read to its end. */
	next(): PduEvent | undefined {
		for (;;) {
			if (this.#part === 'invalid') return undefined;
			if (this.#part === 'value') {
				const fragment = this.#readValue();
				if (fragment !== undefined) return fragment;
				return undefined;
			}
			if (this.#part === 'body') {
				if (!this.#readBody()) return undefined;
				return this.#endOfBody();
			}
			if (this.#part === 'value-head' && this.#pduLeft === 0) {
				this.#part = 'pdu-head';
				continue;
			}
			if (!this.#gatherHead(this.#part === 'pdu-head' ? pduHeadBytes : valueHeadBytes)) return undefined;
			const event = this.#part === 'pdu-head' ? this.#startPdu() : this.#startValue();
			if (event !== undefined) return event;
		}
	}

	#gatherHead(length: number): boolean {
		const count = Math.min(length - this.#headLength, this.#chunk.length - this.#at);
		this.#chunk.copy(this.#head, this.#headLength, this.#at, this.#at + count);
		this.#at += count;
		this.#headLength += count;
		if (this.#headLength < length) return false;
		this.#headLength = 0;
		return true;
	}

	#fail(reason: AbortReason): PduEvent {
		this.#part = 'invalid';
		return { kind: 'invalid', reason };
	}

	#startPdu(): PduEvent | undefined {
		const type = pduTypes[this.#head[0] as keyof typeof pduTypes] as PduType | undefined;
		const length = this.#head.readUInt32BE(2);
		if (type === undefined) return this.#fail('unrecognized-PDU');
		this.#type = type;
		this.#pduLeft = length;
		if (type === 'P-DATA-TF') {
			if (length < valueHeadBytes || length > this.#limits.dataBytesMax) return this.#fail('invalid-PDU-parameter-value');
			this.#part = 'value-head';
			return { kind: 'pdu', type, body: nothing };
		}
		if (type === this.#own) {
			if (length < associateFixedBytes || length > this.#limits.associateBytesMax) return this.#fail('invalid-PDU-parameter-value');
		} else if (type === 'A-ASSOCIATE-RQ' || type === 'A-ASSOCIATE-AC') {
			this.#part = 'invalid';
			return { kind: 'pdu', type, body: nothing };
		} else if (length !== 4) return this.#fail('invalid-PDU-parameter-value');
		this.#part = 'body';
		return undefined;
	}

	#readBody(): boolean {
		const piece = this.#chunk.subarray(this.#at, this.#at + this.#pduLeft);
		this.#at += piece.length;
		this.#pduLeft -= piece.length;
		this.#body.add(piece);
		return this.#pduLeft === 0;
	}

	#endOfBody(): PduEvent {
		this.#part = 'pdu-head';
		const body = this.#body.take();
		return this.#type === this.#own ? { kind: 'associate', body } : { kind: 'pdu', type: this.#type, body };
	}

	#startValue(): PduEvent | undefined {
		const length = this.#head.readUInt32BE(0);
		this.#pduLeft -= valueHeadBytes;
		if (length < 2 || length - 2 > this.#pduLeft) return this.#fail('invalid-PDU-parameter-value');
		// What is left over would be no presentation data value.
		const rest = this.#pduLeft - (length - 2);
		if (rest > 0 && rest < valueHeadBytes) return this.#fail('invalid-PDU-parameter-value');
		this.#contextId = this.#head[4] as number;
		this.#control = this.#head[5] as number;
		this.#valueLeft = length - 2;
		if (this.#valueLeft === 0) return this.#fragment(Buffer.alloc(0));
		this.#part = 'value';
		return undefined;
	}

	#readValue(): PduEvent | undefined {
		if (this.#at >= this.#chunk.length) return undefined;
		const bytes = this.#chunk.subarray(this.#at, this.#at + this.#valueLeft);
		this.#at += bytes.length;
		this.#pduLeft -= bytes.length;
		this.#valueLeft -= bytes.length;
		if (this.#valueLeft === 0) this.#part = 'value-head';
		return this.#fragment(bytes);
	}

	#fragment(bytes: Buffer): Fragment {
		return {
			kind: 'fragment',
			contextId: this.#contextId,
			isCommand: (this.#control & 1) === 1,
			isLast: this.#valueLeft === 0 && (this.#control & 2) === 2,
			bytes,
		};
	}
}
