import { Failure, type FailureCode } from '#core/failure.ts';
import type { Flag } from '#record/change-set.ts';
import type { XmlElement } from './element.ts';

/** Flags of one message that are kept. */
const flagsMax = 50;

/** What interpreting one message needs beside its elements. */
export class Context {
	/** The site's assigning authority for identifiers that name none; a FHIR system URI. */
	readonly defaultAuthority: string | undefined;
	/** Offset of creationTime, by which times without one are read; `Z` when it has none. */
	readonly zone: string;
	readonly flags: Flag[] = [];

	constructor(defaultAuthority: string | undefined, zone: string) {
		this.defaultAuthority = defaultAuthority;
		this.zone = zone;
	}

	flag(code: Flag['code'], text: string): void {
		if (this.flags.length < flagsMax) this.flags.push({ code, text });
	}

	/** Notes a value that was left out because it is not of its type. */
	unreadable(element: XmlElement, rule: string): void {
		this.flag('unreadable-value', `${element.path} ${rule}`);
	}

	/** Notes what is understood by nothing in the record. */
	skipped(element: XmlElement, reason: string): void {
		this.flag('segment-skipped', `${element.path} was left out: ${reason}`);
	}
}

export function failureAt(code: FailureCode, element: XmlElement, text: string): Failure {
	return new Failure(code, text, { location: { expression: element.path } });
}

/** Identifiers are keys in the database; longer ones are a fault of the sender. */
export const keyLengthMax = 250;
