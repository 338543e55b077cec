import type { Change } from '#record/kinds/index.ts';
import type { Message } from '../message.ts';
import type { Context } from '../segments/context.ts';

/** One supported message type: one file, and one row in the table of index.ts. */
export interface Hl7v2Event {
	/** MSH-9.1 and MSH-9.2: `ADT^A08`. */
	messageType: string;
	/** True when it is accepted from every sender; others only from a client that opted in (`--also`). */
	always: boolean;
	/** A description in one sentence, for the documentation. */
	effect: string;
	/**
	 * Returns the changes that the message makes to the record.
	 * @throws Failure when it is refused
	 */
	changes(message: Message, context: Context): Change[];
}
