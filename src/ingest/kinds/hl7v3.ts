import { readEntries } from '#cda/entries.ts';
import { interpretDocument, isDocument } from '#cda/interpret.ts';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { codeOf, renderAcknowledgement } from '#hl7v3/acknowledgement.ts';
import { interpret as interpretMessage, noHeader, type Received, receive } from '#hl7v3/interpret.ts';
import type { Hl7Answer, Hl7v3Delivery } from '#record/delivery.ts';
import type { Interpretation } from '../interpretation.ts';
import type { IngestLimits } from '../limits.ts';
import { withheldBy } from '../withheld.ts';
import { defineDelivery, type InterpretContext } from './definition.ts';
import { acknowledgementLog } from './hl7v2.ts';

/** An HL7 v3 message or a clinical document; either is answered with MCCI_IN000002UV01. */
export const hl7v3 = defineDelivery<'hl7v3'>({
	kind: 'hl7v3',
	interpret,
	answerLog: acknowledgementLog,
	messageIdName: 'the message id',
	replay: () => ({ kind: 'hl7v3' }),
});

function interpret(delivery: Hl7v3Delivery, context: InterpretContext): Interpretation<Hl7Answer> {
	const { limits, clock, log } = context;
	const received = receivedIn(delivery, limits, log);
	const { message, envelope, messageType, header } = received;
	return {
		messageType,
		controlId: header.messageId,
		verdict: verdictOf(received, delivery, context),
		logged: 'always',
		answer: (outcome, failure) => {
			const code = codeOf(header.acceptAckCode, outcome === 'refused' ? (failure?.code ?? 'unprocessable') : undefined);
			return { acknowledgements: [renderAcknowledgement({ message, envelope, code, id: delivery.id, nowMs: clock.nowMs(), failure })] };
		},
	};
}

/** A delivery that ended its worker is not read again, so its answer quotes nothing of it. */
function receivedIn(delivery: Hl7v3Delivery, limits: IngestLimits, log: Log): Received {
	const unread = (failure: Failure): Received => {
		return { envelope: undefined, message: undefined, messageType: 'HL7v3', header: noHeader, failure };
	};
	const withheld = withheldBy(delivery, 'the message could not be processed');
	if (withheld) return unread(withheld);
	try {
		return receive(delivery.bytes, limits);
	} catch (error) {
		return unread(bug(error, delivery, log));
	}
}

function verdictOf(
	received: Received,
	delivery: Hl7v3Delivery,
	{ limits, log, hostTimeZone }: InterpretContext,
): Interpretation['verdict'] {
	const { bytes, settings } = delivery;
	const reading = { settings, hostTimeZone };
	try {
		const changeSet = isDocument(received)
			? interpretDocument(received, bytes, { ...reading, limits, readEntries })
			: interpretMessage(received, reading);
		return { kind: 'apply', changeSet };
	} catch (error) {
		return { kind: 'refuse', failure: error instanceof Failure ? error : bug(error, delivery, log) };
	}
}

function bug(error: unknown, { id, siteId }: Hl7v3Delivery, log: Log): Failure {
	log.error({ err: error, messageId: id, siteId }, 'message could not be interpreted');
	return new Failure('internal', 'the message could not be interpreted', { cause: error });
}
