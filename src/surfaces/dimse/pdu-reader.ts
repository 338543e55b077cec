import { Gathering } from './gathering.ts';
import { type AbortReason, type PduType, pduHeadBytes, pduTypes, valueHeadBytes } from './pdu.ts';

/** A piece of a presentation data value, as long as the bytes that have arrived. */
export interface Fragment {
	kind: 'fragment';
	contextId: number;
	isCommand: boolean;
	/** True for the last piece of the last fragment of a command set or data set. */
	isLast: boolean;
	/** A view of the fed chunk. It is valid until the next chunk is fed or `keep` is called. */
	bytes: Buffer;
}

export type PduEvent =
	/** The A-ASSOCIATE PDU that this side may receive, read whole. */
	| { kind: 'associate'; body: Buffer }
	/**
	 * Any other PDU. `P-DATA-TF` is reported when it begins, and its fragments follow. The others are reported when they were read whole,
	 * with their four bytes. The A-ASSOCIATE PDU that this side must never receive is not read, nor is anything after it.
	 */
	| { kind: 'pdu'; type: PduType; body: Buffer }
	| Fragment
	/** The bytes are no PDU that this side accepts; nothing more is read. */
	| { kind: 'invalid'; reason: AbortReason };

export interface PduReaderLimits {
	/** The maximum length that was announced for P-DATA-TF. */
	dataBytesMax: number;
	associateBytesMax: number;
}

/** The A-ASSOCIATE PDU that this side receives: one for the side that accepts associations, the other for the side that requests them. */
type OwnAssociatePdu = 'A-ASSOCIATE-RQ' | 'A-ASSOCIATE-AC';

const nothing = Buffer.alloc(0);

/** The length of the fixed fields before the variable items (PS3.8 §9.3.2). */
const associateFixedBytes = 68;

/**
 * Reads PDUs from chunks of any size. Nothing of a P-DATA-TF is buffered or copied: its pieces are returned as they arrive. A caller
 * that has enough stops asking for the next one.
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
	/** Bytes left of the PDU, and of the presentation data value within it. */
	#pduLeft = 0;
	#valueLeft = 0;
	#contextId = 0;
	#control = 0;

	constructor(limits: PduReaderLimits, own: OwnAssociatePdu = 'A-ASSOCIATE-RQ') {
		this.#limits = limits;
		this.#own = own;
		this.#body = new Gathering(limits.associateBytesMax);
	}

	/** True when a PDU was begun and has not ended. */
	get withinPdu(): boolean {
		return this.#part !== 'invalid' && (this.#part !== 'pdu-head' || this.#headLength > 0);
	}

	/** Takes the next chunk. The previous one must have been read to its end (`next` returned undefined). */
	feed(chunk: Buffer): void {
		this.#chunk = chunk;
		this.#at = 0;
	}

	/** Copies the unread bytes of the chunk, because its memory is about to be reused. */
	keep(): void {
		const isRead = this.#part === 'invalid' || this.#at >= this.#chunk.length;
		this.#chunk = isRead ? nothing : Buffer.from(this.#chunk.subarray(this.#at));
		this.#at = 0;
	}

	/** Copies bytes that arrived after a chunk that was kept and is not read yet. */
	append(chunk: Buffer): void {
		if (this.#part === 'invalid') return;
		this.#chunk = Buffer.concat([this.#chunk.subarray(this.#at), chunk]);
		this.#at = 0;
	}

	/** Returns undefined when the chunk is read to its end. */
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
		// The bytes left over are too few for another presentation data value.
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
