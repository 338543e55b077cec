import type { Change } from '#record/kinds/index.ts';
import type { Message } from '../message.ts';
import type { Context } from '../segments/context.ts';

/** One message type that the product understands: one file, and one row in the table of index.ts. */
export interface Hl7v2Event {
	/** MSH-9.1 and MSH-9.2: `ADT^A08`. */
	messageType: string;
	/** Taken from every sender; the others only from a client that opted in (`--also`). */
	always: boolean;
	/** In one sentence, for the documentation. */
	effect: string;
	/**
	 * What the message does to the record.
	 * @throws Failure when it is refused
	 */
	changes(message: Message, context: Context): Change[];
}
