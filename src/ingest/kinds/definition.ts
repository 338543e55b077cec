import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { AnswerOf, DeliveryKind, DeliveryOf, FhirPolicy, Hl7v2Policy } from '#record/delivery.ts';
import type { Interpretation, PartedInterpretation } from '../interpretation.ts';
import type { IngestLimits } from '../limits.ts';

/** A worker reads deliveries with these. */
export interface InterpretContext {
	limits: IngestLimits;
	clock: Clock;
	log: Log;
	/** Puts a whole object into the store, durably. */
	placeObject(key: string, object: Uint8Array): Promise<void>;
}

/** The message log keeps an answer as bytes: none, one part, or several. */
export interface AnswerLog<Answer> {
	write(answer: Answer): readonly Uint8Array[];
	/** The answer that a duplicate gets, from what `write` made of the first. */
	read(parts: readonly Uint8Array[]): Answer;
}

/** A message that is taken again, as the log has it, with the settings that its site and client have now. */
export interface LoggedMessage {
	messageType: string;
	hl7v2: Hl7v2Policy;
	fhir: FhirPolicy;
	/** The site's assigning authority for identifiers that name none; a FHIR system URI. */
	defaultAuthority: string | undefined;
}

/** A delivery carries these whatever its kind is. */
type CarriedByAll = 'id' | 'siteId' | 'clientId' | 'surface' | 'source' | 'receivedAtMs' | 'bytes' | 'withheld' | 'replayOf';
/** A kind of delivery carries these beside. */
type Carried<Delivery> = Delivery extends unknown ? Omit<Delivery, CarriedByAll> : never;

/** Everything that is true of one kind of delivery. */
export interface DeliveryDefinition<Kind extends DeliveryKind = DeliveryKind> {
	kind: Kind;
	/** Reads one delivery. Never throws: what cannot be read is a refusal. */
	interpret(delivery: DeliveryOf<Kind>, context: InterpretContext): Interpretation<AnswerOf<Kind>> | PartedInterpretation<AnswerOf<Kind>>;
	answerLog: AnswerLog<AnswerOf<Kind>>;
	/**
	 * A delivery with the same control id is a repeat where its bytes are the same. `delivery`: only where it is the very same
	 * delivery, whose COMMIT was lost on the way.
	 */
	recognisedBy: 'bytes' | 'delivery';
	/** The sender's id of a message, in the words of the format, where it is to be used once only. */
	messageIdName?: string;
	/** The name that `meta.source` gives beside the surface; absent: the control id. */
	sourceName?(delivery: DeliveryOf<Kind>): string;
	/** Makes a delivery of a logged message. Absent where a message of the log only says why it was refused, and cannot be taken again. */
	replay?(logged: LoggedMessage): Carried<DeliveryOf<Kind>>;
}

type Stated<Kind extends DeliveryKind> = Omit<DeliveryDefinition<Kind>, 'answerLog' | 'recognisedBy'> &
	Partial<Pick<DeliveryDefinition<Kind>, 'answerLog' | 'recognisedBy'>>;

/** An answer is logged in JSON and a delivery is recognised by its bytes, where the kind says nothing else. */
export function defineDelivery<Kind extends DeliveryKind>(stated: Stated<Kind>): DeliveryDefinition<Kind> {
	return { answerLog: inJson, recognisedBy: 'bytes', ...stated };
}

const inJson: AnswerLog<AnswerOf<DeliveryKind>> & AnswerLog<never> = {
	write: (answer: unknown) => [Buffer.from(JSON.stringify(answer))],
	read: ([part]) => JSON.parse(Buffer.from(part ?? []).toString('utf8')) as never,
};
