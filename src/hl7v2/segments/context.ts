import { Failure, type FailureCode } from '#core/failure.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import { type Mentions, mentionsOf } from '#fhir/mapping/mentions.ts';
import { toDateTime, toInstantOrMidnight } from '#fhir/mapping/timestamp.ts';
import type { Flag } from '#record/flag.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import type { Segment } from '../message.ts';

/** The largest number of flags kept for one message: a thousand OBX with one fault need no thousand flags. */
const flagsMax = 50;

/** The state that is needed, beside the segments, to interpret one message. */
export class Context {
	readonly settings: Settings;
	/** Times without an offset are read by that of MSH-7 (v2.5.1 §2.A.22), else in the zone of the sender. */
	readonly zone: Zone;
	readonly observationsMax: number;
	/** MSH-7 as a FHIR instant; undefined when it has no time. */
	readonly sent: string | undefined;
	readonly header: Segment | undefined;
	/** Undefined for a sender whose references to people and places are for display. */
	readonly mentions: Mentions | undefined;
	readonly flags: Flag[] = [];
	/** Why results were left out, for a sender who takes part of a message (`results`). */
	readonly leftOut: Failure[] = [];

	constructor(settings: Settings, zone: Zone, observationsMax: number, sent?: string, header?: Segment) {
		this.settings = settings;
		this.zone = zone;
		this.observationsMax = observationsMax;
		this.sent = sent;
		this.header = header;
		this.mentions = mentionsOf(settings);
	}

	flag(code: Flag['code'], text: string): void {
		if (this.flags.length < flagsMax) this.flags.push({ code, text });
	}

	/**
	 * Reads one result. If the sender takes part of a message, a result that cannot be read is left out and flagged; returns false then.
	 * @throws Failure otherwise
	 */
	orLeaveOut(read: () => void): boolean {
		try {
			read();
			return true;
		} catch (error) {
			if (!(error instanceof Failure) || settingOf(this.settings, 'results') !== 'partial') throw error;
			this.leftOut.push(error);
			this.flag('result-left-out', `a result was left out: ${error.diagnostics}`);
			return false;
		}
	}

	/** Reads a field with a time. Undefined when it is empty; also undefined, and flagged, when it is no time. */
	time(segment: Segment, field: number): string | undefined {
		return this.#timeBy(toDateTime, segment, field, 'is not a time and was left out');
	}

	/** Reads a field with a time as a FHIR instant. Undefined when it is empty; also undefined, and flagged, when it states no day. */
	instant(segment: Segment, field: number): string | undefined {
		return this.#timeBy(toInstantOrMidnight, segment, field, 'is not a time with a day and was left out');
	}

	#timeBy(convert: typeof toDateTime, segment: Segment, field: number, fault: string): string | undefined {
		const text = segment.text(field).trim();
		if (text === '') return undefined;
		const value = convert(text, this.zone);
		if (value === undefined) this.unreadable(segment, field, fault);
		return value;
	}

	/** Flags a value that was left out because it is not of its type. */
	unreadable(segment: Segment, field: number, rule: string): void {
		this.flag('unreadable-value', `${nameOf(segment)}-${field} ${rule}`);
	}
}

/** `OBX` for the first of its kind, `OBX[3]` for the third. */
export function nameOf(segment: Segment): string {
	const { sequence } = segment;
	return sequence === 1 ? segment.id : `${segment.id}[${sequence}]`;
}

export function failureAt(code: FailureCode, segment: Segment, field: number, text: string): Failure {
	return new Failure(code, text, { location: { segment: segment.id, sequence: segment.sequence, field } });
}

/** Identifiers are keys in the database; longer ones are a fault of the sender. */
export const keyLengthMax = 250;

/** @throws Failure `value-too-long` */
export function checkedKey(value: string, segment: Segment, field: number): string {
	if (value.length > keyLengthMax) {
		throw failureAt('value-too-long', segment, field, `${segment.id}-${field} has an identifier of more than ${keyLengthMax} characters`);
	}
	return value;
}
