import { Failure } from '#core/failure.ts';
import { type AcknowledgementCode, acknowledgementId, renderAck } from '#hl7v2/ack.ts';
import { readHead } from '#hl7v2/head.ts';
import { type Interpreted, interpret as interpretMessage } from '#hl7v2/interpret.ts';
import { Message } from '#hl7v2/message.ts';
import { type Hl7Answer, type Hl7v2Delivery, idsOf, type Outcome } from '#record/delivery.ts';
import { indexText } from '#record/index-text.ts';
import { settingOf } from '#record/settings/settings.ts';
import type { Interpretation } from '../interpretation.ts';
import type { IngestLimits } from '../limits.ts';
import { withheldBy } from '../withheld.ts';
import { type AnswerLog, defineDelivery, type InterpretContext } from './definition.ts';

/** The acknowledgements are logged as they are sent. */
export const acknowledgementLog: AnswerLog<Hl7Answer> = {
	write: ({ acknowledgements }) => acknowledgements,
	read: (acknowledgements) => ({ acknowledgements }),
};

export const hl7v2 = defineDelivery<'hl7v2'>({
	kind: 'hl7v2',
	interpret,
	answerLog: acknowledgementLog,
	messageIdName: 'MSH-10',
	replay: () => ({ kind: 'hl7v2' }),
});

function interpret(delivery: Hl7v2Delivery, context: InterpretContext): Interpretation<Hl7Answer> {
	const { limits, clock } = context;
	const parsed = parse(delivery, limits);
	const message = parsed instanceof Message ? parsed : undefined;
	// Only the header of a withheld message is read.
	const named = delivery.withheld ? readHead(delivery.bytes) : message;
	const verdict = parsed instanceof Message ? verdictOf(parsed, delivery, context) : ({ kind: 'refuse', failure: parsed } as const);
	const warnings = verdict.kind === 'apply' ? verdict.leftOut : [];
	return {
		// A refused message is logged under a type that the indexes can hold.
		messageType: indexText(named?.messageType ?? ''),
		controlId: indexText(named?.controlId ?? ''),
		verdict,
		logged: 'always',
		patients: message && verdict.kind !== 'apply' ? message.all('PID').map((segment) => segment.text(3)) : [],
		answer: (outcome, failure) => ({
			// Each part of a message that was divided is a message to its sender, and is answered as the whole.
			acknowledgements: [message ?? delivery.bytes, ...(message?.continuations ?? [])].flatMap((source, part) =>
				codesOf(message, delivery, outcome).map((code) =>
					renderAck({
						source,
						code,
						controlId: acknowledgementId(delivery.id, code, part),
						nowMs: clock.nowMs(),
						failure,
						...(code === 'AA' ? { warnings } : {}),
					}),
				),
			),
		}),
	};
}

function parse(delivery: Hl7v2Delivery, limits: IngestLimits): Message | Failure {
	const withheld = withheldBy(delivery, 'the message could not be processed');
	if (withheld) return withheld;
	try {
		const { charset } = delivery.settings;
		return Message.parse(delivery.bytes, charset === undefined ? limits : { ...limits, charset });
	} catch (error) {
		if (error instanceof Failure) return error;
		throw error;
	}
}

interface Refusal {
	kind: 'refuse';
	failure: Failure;
}

function verdictOf(message: Message, delivery: Hl7v2Delivery, { limits, log, hostTimeZone }: InterpretContext): Interpreted | Refusal {
	try {
		const interpreted = interpretMessage(message, delivery.settings, limits, hostTimeZone);
		if (delivery.batchFlag && interpreted.kind === 'apply') interpreted.changeSet.flags.push(delivery.batchFlag);
		return interpreted;
	} catch (error) {
		if (error instanceof Failure) return { kind: 'refuse', failure: error };
		log.error({ err: error, ...idsOf(delivery) }, 'message could not be interpreted');
		return { kind: 'refuse', failure: new Failure('internal', 'the message could not be interpreted', { cause: error }) };
	}
}

/**
 * Returns the acknowledgement codes. Original mode: one AA or AE. Enhanced mode (HL7 v2.5.1 §2.9.3), if the client opted in and the message
 * asks for it: the accept acknowledgement that MSH-15 wants, then the application acknowledgement that MSH-16 wants. A refused message is
 * accepted all the same, because the message log has it: CA, then AE. Only where no AE is wanted, CE tells the sender of the refusal.
 */
function codesOf(message: Message | undefined, delivery: Hl7v2Delivery, outcome: Outcome): AcknowledgementCode[] {
	const refused = outcome === 'refused';
	const application = refused ? 'AE' : 'AA';
	const header = message?.segments[0];
	if (settingOf(delivery.settings, 'ack_mode') !== 'enhanced' || header === undefined) return [application];
	const accept = header.text(15);
	const wanted = header.text(16);
	if (accept === '' && wanted === '') return [application];
	const isApplicationWanted = isWanted(wanted, refused);
	if (refused && !isApplicationWanted) return isWanted(accept, true) ? ['CE'] : [];
	const codes: AcknowledgementCode[] = isWanted(accept, false) ? ['CA'] : [];
	if (isApplicationWanted) codes.push(application);
	return codes;
}

/** HL7 table 0155. If only one of the two conditions is given, the absent one means never. */
function isWanted(condition: string, refused: boolean): boolean {
	return condition === 'AL' || (condition === 'ER' && refused) || (condition === 'SU' && !refused);
}
