import type { Doubt } from './doubt.ts';

/**
 * Thrown while a message is applied whose sender wants a person to see a mismatch first. Nothing of the message is applied; it is
 * acknowledged, because the log has it, flagged `held`, and its doubt is listed. An image is stored without a patient instead.
 */
export class HeldForPerson extends Error {
	override readonly name = 'HeldForPerson';
	readonly doubt: Doubt;

	constructor(doubt: Doubt) {
		super('the message waits for a person');
		this.doubt = doubt;
	}
}
