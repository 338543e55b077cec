/** An object that changed later than so long ago may have a row that is on its way. */
export const settlingMs = 3_600_000;

/** The bytes of a finished object, which lies under a temporary name until it is published. */
export interface FinishedObject {
	/** The size of head and content. */
	bytes: number;
	/** Hex SHA-256 of the content, without the head. */
	digest: string;
}

/** The store keeps this beside an object, so that the index can be made from the store again. */
export interface ObjectDescription {
	sopInstanceUid: string;
	/** Empty for STOW-RS. */
	callingAe: string;
	/** Address, or the public id of an API key. */
	source: string;
}

/** A range from the first to the last byte of the object; the end is exclusive. */
export interface ByteRange {
	start: number;
	end: number;
}

/** An object that has its place. */
export interface PlacedObject {
	/** The key that says where it lies. */
	key: string;
	/** Resolves when it is durable there; rejects with Failure `unavailable`. */
	durable: Promise<void>;
}

/** An object on its way into the store. Either `publish` or `abandon` ends it. */
export interface ObjectWriter {
	/**
	 * The chunk is not kept. A promise means that enough bytes wait to be written; continue when it resolves. Never rejects: `finish` throws
	 * the
	 * error.
	 */
	write(chunk: Uint8Array): Promise<void> | undefined;
	/**
	 * All bytes are written when this resolves, but not yet durable.
	 * @throws Failure `unavailable` when the store is full or cannot write; nothing is left behind then
	 */
	finish(): Promise<FinishedObject>;
	/**
	 * Makes a finished object visible, complete and durable. Returns the key under which it is found: the given one, or one that says where
	 * it lies.
	 * @throws Failure `unavailable`; nothing is left behind then
	 */
	publish(key: string, about: ObjectDescription): Promise<string>;
	/**
	 * Does the same, if the key is known before the object is durable: a row may name it meanwhile, and is committed afterwards. Undefined where
	 * it is not known; nothing has begun then.
	 */
	place?(key: string, about: ObjectDescription): PlacedObject | undefined;
	/** Leaves nothing behind. It has no effect on a published object and may be called at any time. */
	abandon(): Promise<void>;
}

/** An object that was removed while a backup was at work, and may still have to be copied. */
export interface HeldObject {
	bytes: number;
	content(): AsyncIterable<Uint8Array>;
}

export interface ListedObject {
	key: string;
	bytes: number;
	/** The time at which it was published or moved, in milliseconds since 1970. */
	changedMs: number;
	/** A record of a segment tells this of its object: the SHA-256 of the data set, and the rest. */
	digest?: string;
	about?: ObjectDescription;
}

/** Stores complete DICOM files. Keys are made by `object-key.ts` alone; any other key is refused with an Error. */
export interface ObjectStore {
	/** `head` comes first in the object and is not part of its digest. */
	begin(head: Uint8Array): ObjectWriter;
	/**
	 * Returns the size of the object; undefined when there is none.
	 * @throws Failure `unavailable` when the store cannot be asked
	 */
	size(key: string): Promise<number | undefined>;
	/** @throws Failure `not-found`, `unavailable`, at the first chunk */
	read(key: string, range?: ByteRange): AsyncIterable<Uint8Array>;
	/** Returns true when the object existed. After a loss of power it may exist again; `sweepObjects` finds it. */
	remove(key: string): Promise<boolean>;
	/**
	 * Moves an object, durable when this resolves; a repeated call is harmless. @throws Failure `not-found` when neither key has an object
	 */
	move(from: string, to: string): Promise<void>;
	/** Lists every published object in no particular order, quarantined ones included. */
	list(): AsyncIterable<ListedObject>;
	/** Removes files that writers of ended processes have left behind; returns their number. It is called at the start of the service. */
	removeTemporary(): Promise<number>;
	/**
	 * Finds out by little work whether the store takes objects. `signal` ends a question that is not answered; a write to a disk cannot be ended.
	 * @throws Failure `unavailable` when it does not; the text says why
	 */
	probe(signal?: AbortSignal): Promise<void>;
	/** @throws Failure `unavailable` while it is known that the store does not answer */
	expectAnswer(): void;
	/** Ends what the store still has open. Nothing may be stored afterwards. */
	close(): Promise<void>;
}
