import { adtA01 } from './adt-a01.ts';
import { adtA02 } from './adt-a02.ts';
import { adtA03 } from './adt-a03.ts';
import { adtA04 } from './adt-a04.ts';
import { adtA08 } from './adt-a08.ts';
import { adtA11 } from './adt-a11.ts';
import { adtA13 } from './adt-a13.ts';
import { adtA28 } from './adt-a28.ts';
import { adtA31 } from './adt-a31.ts';
import { adtA37 } from './adt-a37.ts';
import { adtA40 } from './adt-a40.ts';
import type { Hl7v2Event } from './event.ts';
import { oruR01 } from './oru-r01.ts';

/** All supported message types. To add one, add a file and a row here. */
export const events: readonly Hl7v2Event[] = [
	adtA01,
	adtA04,
	adtA08,
	adtA40,
	oruR01,
	adtA02,
	adtA03,
	adtA11,
	adtA13,
	adtA28,
	adtA31,
	adtA37,
];

const byType: ReadonlyMap<string, Hl7v2Event> = new Map(events.map((event) => [event.messageType, event]));

export function eventOf(messageType: string): Hl7v2Event | undefined {
	return byType.get(messageType);
}

/** MSH-9.1 of the events, each once: `ADT`, `ORU`. */
export const messageCodes: readonly string[] = [...new Set(events.map(({ messageType }) => codeOf(messageType)))];

/** `ADT^A08` → `ADT` */
export function codeOf(messageType: string): string {
	return messageType.split('^', 1)[0] ?? '';
}

/** The trigger events that a client may opt in to, in their order: `A02`. */
export const optionalTriggers: readonly string[] = events
	.filter(({ always }) => !always)
	.map(({ messageType }) => messageType.slice(messageType.indexOf('^') + 1))
	.sort();
