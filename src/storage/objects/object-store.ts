/** The bytes of a finished object, which lies under a temporary name until it is published. */
export interface FinishedObject {
	/** Head and content. */
	bytes: number;
	/** Hex SHA-256 of the content, without the head. */
	digest: string;
}

/** From first to last byte of the object, end not included. */
export interface ByteRange {
	start: number;
	end: number;
}

/** An object on its way into the store. Either `publish` or `abandon` ends it. */
export interface ObjectWriter {
	/**
	 * The chunk is not kept. A promise means that enough is waiting to be written; go on
	 * when it resolves. Never rejects: what went wrong is thrown by `finish`.
	 */
	write(chunk: Uint8Array): Promise<void> | undefined;
	/**
	 * Everything is written when this resolves, and not yet durable.
	 * @throws Failure `unavailable` when the store is full or cannot write; nothing is left behind then
	 */
	finish(): Promise<FinishedObject>;
	/**
	 * Makes a finished object visible under its key, whole and durably.
	 * @throws Failure `unavailable`; nothing is left behind then
	 */
	publish(key: string): Promise<void>;
	/** Leaves nothing behind. Does nothing to an object that was published, and may be called at any time. */
	abandon(): Promise<void>;
}

export interface ListedObject {
	key: string;
	bytes: number;
	/** When it was published or moved, in milliseconds since 1970. */
	changedMs: number;
}

/** Where whole DICOM files lie. Keys are made by `object-key.ts` alone; any other key is refused with an Error. */
export interface ObjectStore {
	/** `head` comes first in the object and is not part of its digest. */
	begin(head: Uint8Array): ObjectWriter;
	/**
	 * Size of the object, undefined where there is none.
	 * @throws Failure `unavailable` when the store cannot be asked
	 */
	size(key: string): Promise<number | undefined>;
	/** @throws Failure `not-found`, `unavailable`, at the first chunk */
	read(key: string, range?: ByteRange): AsyncIterable<Uint8Array>;
	/** True: the object was there. After a loss of power it may be there again; `sweepObjects` finds it. */
	remove(key: string): Promise<boolean>;
	/** Durable when it resolves; a repeated call does no harm. @throws Failure `not-found`, when neither key has an object */
	move(from: string, to: string): Promise<void>;
	/** Every published object, the quarantined ones included, in no particular order. */
	list(): AsyncIterable<ListedObject>;
	/** Removes what writers of processes that ended have left behind; gives the number of files. For the start of the service. */
	removeTemporary(): Promise<number>;
}
