import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Library } from '#fhir/profiles/library.ts';
import type { AnswerOf, DeliveryKind, DeliveryOf, Placing } from '#record/delivery.ts';
import type { StoredInstance } from '#record/instance.ts';
import type { Interpretation, PartedInterpretation } from '../interpretation.ts';
import type { IngestLimits } from '../limits.ts';

/** A worker reads deliveries with these. */
export interface InterpretContext {
	limits: IngestLimits;
	clock: Clock;
	log: Log;
	/** The zone of the machine, which is assumed for senders of whom nobody has said another. */
	hostTimeZone: string;
	/** Returns the profiles and terms of a site: those that ship with the product, and those that the site has loaded. */
	libraryOf(siteId: string): Library;
	/** Puts a whole object into the store. The key by which rows name it is known at once, before the object is durable. */
	placeObject(instance: StoredInstance, object: Uint8Array): { key: string; durable: Promise<void> };
	/** Tells whether an object that somebody else writes is durable, or has not become so within a short time. */
	isDurable(placing: Placing): Promise<boolean>;
}

/** The message log keeps an answer as bytes: none, one part, or several. */
export interface AnswerLog<Answer> {
	write(answer: Answer): readonly Uint8Array[];
	/** Returns the answer for a duplicate, from the parts that `write` made of the first answer. */
	read(parts: readonly Uint8Array[]): Answer;
}

/** A logged message to be replayed. */
export interface LoggedMessage {
	messageType: string;
}

/** A delivery carries these whatever its kind is. */
type CarriedByAll =
	| 'id'
	| 'siteId'
	| 'clientId'
	| 'surface'
	| 'source'
	| 'receivedAtMs'
	| 'settings'
	| 'bytes'
	| 'withheld'
	| 'replayOf'
	| 'rehearsal';
/** The further members of one kind of delivery. */
type Carried<Delivery> = Delivery extends unknown ? Omit<Delivery, CarriedByAll> : never;

/** The definition of one kind of delivery. */
export interface DeliveryDefinition<Kind extends DeliveryKind = DeliveryKind> {
	kind: Kind;
	/** Reads one delivery. Never throws: an unreadable delivery becomes a refusal. */
	interpret(delivery: DeliveryOf<Kind>, context: InterpretContext): Interpretation<AnswerOf<Kind>> | PartedInterpretation<AnswerOf<Kind>>;
	answerLog: AnswerLog<AnswerOf<Kind>>;
	/**
	 * A delivery with the same control id is a repetition if its bytes are the same. `delivery`: only if it is the same delivery, whose
	 * COMMIT was
	 * lost on the way.
	 */
	recognisedBy: 'bytes' | 'delivery';
	/** True when a message mostly reads what the one before it read. It has no control id, and is logged only when it is refused. */
	isForeseen?: boolean;
	/** The format's name for the sender's message id, if it must be used only once. */
	messageIdName?: string;
	/** The name in `meta.source` after the surface; by default the control id. */
	sourceName?(delivery: DeliveryOf<Kind>): string;
	/** Makes a delivery of a logged message. Absent when the log holds only the refusal of a message, which cannot be replayed. */
	replay?(logged: LoggedMessage): Carried<DeliveryOf<Kind>>;
}

type Stated<Kind extends DeliveryKind> = Omit<DeliveryDefinition<Kind>, 'answerLog' | 'recognisedBy'> &
	Partial<Pick<DeliveryDefinition<Kind>, 'answerLog' | 'recognisedBy'>>;

/** By default an answer is logged in JSON and a delivery is recognised by its bytes. */
export function defineDelivery<Kind extends DeliveryKind>(stated: Stated<Kind>): DeliveryDefinition<Kind> {
	return { answerLog: inJson, recognisedBy: 'bytes', ...stated };
}

const inJson: AnswerLog<AnswerOf<DeliveryKind>> & AnswerLog<never> = {
	write: (answer: unknown) => [Buffer.from(JSON.stringify(answer))],
	read: ([part]) => JSON.parse(Buffer.from(part ?? []).toString('utf8')) as never,
};
