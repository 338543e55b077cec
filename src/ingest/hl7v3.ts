import { readEntries } from '#cda/entries.ts';
import { interpretDocument, isDocument } from '#cda/interpret.ts';
import type { Clock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import type { Limits } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { codeOf, renderAcknowledgement } from '#hl7v3/acknowledgement.ts';
import { interpret, type Received, receive } from '#hl7v3/interpret.ts';
import type { Hl7v3Delivery } from '#record/delivery.ts';
import type { Interpretation } from './interpretation.ts';

/** Reads an HL7 v3 delivery, a message or a clinical document, and answers it in its own terms: MCCI_IN000002UV01. */
export function interpretHl7v3(delivery: Hl7v3Delivery, limits: Limits, clock: Clock, log: Log): Interpretation {
	const received = receivedIn(delivery, limits, log);
	const { message, envelope, messageType, header } = received;
	return {
		messageType,
		controlId: header.messageId,
		verdict: verdictOf(received, delivery, limits, log),
		logged: 'always',
		acknowledge: (outcome, failure) => {
			const code = codeOf(header.acceptAckCode, outcome === 'refused' ? (failure?.code ?? 'unprocessable') : undefined);
			return { acks: [renderAcknowledgement({ message, envelope, code, id: delivery.id, nowMs: clock.nowMs(), failure })] };
		},
	};
}

/** A delivery that ended its worker is not read again: its answer names nothing of it. */
function receivedIn(delivery: Hl7v3Delivery, limits: Limits, log: Log): Received {
	const unread = (failure: Failure): Received => {
		const header = { messageId: '', zone: 'Z', acceptAckCode: '' };
		return { envelope: undefined, message: undefined, messageType: 'HL7v3', header, failure };
	};
	if (delivery.withheld) return unread(new Failure('internal', 'the message could not be processed'));
	try {
		return receive(delivery.bytes, limits);
	} catch (error) {
		return unread(bug(error, delivery, log));
	}
}

function verdictOf(received: Received, delivery: Hl7v3Delivery, limits: Limits, log: Log): Interpretation['verdict'] {
	const { bytes, defaultAuthority } = delivery;
	try {
		const changeSet = isDocument(received)
			? interpretDocument(received, bytes, { defaultAuthority, limits, readEntries })
			: interpret(received, defaultAuthority);
		return { kind: 'apply', changeSet };
	} catch (error) {
		return { kind: 'refuse', failure: error instanceof Failure ? error : bug(error, delivery, log) };
	}
}

function bug(error: unknown, { id, siteId }: Hl7v3Delivery, log: Log): Failure {
	log.error({ err: error, messageId: id, siteId }, 'message could not be interpreted');
	return new Failure('internal', 'the message could not be interpreted', { cause: error });
}
