import type { Change } from '#record/kinds/index.ts';
import type { Context } from '../context.ts';
import type { XmlElement } from '../element.ts';

/** One interaction that the product understands: one file, and one row in the table of index.ts. */
export interface Interaction {
	/** The name of its element: `PRPA_IN201301UV02`. */
	name: string;
	/** Describes the interaction and its effect on the record, for the documentation. */
	meaning: string;
	effect: string;
	/**
	 * Turns the message into changes to the record.
	 * @throws Failure when it is refused
	 */
	changes(message: XmlElement, context: Context): Change[];
}
