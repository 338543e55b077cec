import { Failure, type FailureCode } from '#core/failure.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import type { Mentions } from '#fhir/mapping/mentions.ts';
import type { Flag } from '#record/flag.ts';
import type { XmlElement } from './element.ts';

/** Flags of one message that are kept. */
const messageFlagsMax = 50;
/** Flags of one clinical document that are kept. */
export const documentFlagsMax = 200;

/** Everything beside its elements that is needed to interpret a message. */
export class Context {
	/** The site's assigning authority for identifiers that name none; a FHIR system URI. */
	readonly defaultAuthority: string | undefined;
	/** Times without an offset are read by that of creationTime, else in the zone of the sender. */
	readonly zone: Zone;
	readonly flags: Flag[] = [];
	/** Undefined for a sender whose references to people and places are for display. */
	readonly mentions: Mentions | undefined;
	readonly #flagsMax: number;

	constructor(defaultAuthority: string | undefined, zone: Zone, flagsMax = messageFlagsMax, mentions?: Mentions) {
		this.defaultAuthority = defaultAuthority;
		this.zone = zone;
		this.mentions = mentions;
		this.#flagsMax = flagsMax;
	}

	/** The last that is kept says that there were more. */
	flag(code: Flag['code'], text: string): void {
		if (this.#isFull()) return;
		const isLast = this.flags.length === this.#flagsMax - 1;
		this.flags.push(isLast ? { code, text: `${text}; more was noted than the ${this.#flagsMax} notes that are kept` } : { code, text });
	}

	/** Notes a value that was left out because it is not of its type. */
	unreadable(element: XmlElement, rule: string): void {
		if (!this.#isFull()) this.flag('unreadable-value', `${element.path} ${rule}`);
	}

	/** Notes what is understood by nothing in the record. */
	skipped(element: XmlElement, reason: string): void {
		if (!this.#isFull()) this.flag('segment-skipped', `${element.path} was left out: ${reason}`);
	}

	/** Asked before a path is written, which takes time that grows with the siblings. */
	#isFull(): boolean {
		return this.flags.length >= this.#flagsMax;
	}
}

export function failureAt(code: FailureCode, element: XmlElement, text: string): Failure {
	return new Failure(code, text, { location: { expression: element.path } });
}

/** Identifiers are keys in the database; longer ones are a fault of the sender. */
export const keyLengthMax = 250;
