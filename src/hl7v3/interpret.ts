import { Failure, type FailureCode } from '#core/failure.ts';
import { messageZone, type Reading, readIn } from '#fhir/mapping/local-zone.ts';
import type { ChangeSet } from '#record/change-set.ts';
import { Context, failureAt } from './context.ts';
import { hl7Namespace, type XmlElement } from './element.ts';
import { type Envelope, emptyEnvelope, unwrap } from './envelope.ts';
import { type Header, headerOf, requireMessageId, requireProcessingCode } from './header.ts';
import { interactionOf } from './interactions/index.ts';
import type { XmlLimits } from './limits.ts';
import { readXml } from './read.ts';

/** A body as far as it can be answered, whatever becomes of it. */
export interface Received {
	envelope: Envelope | undefined;
	/** The HL7 v3 message or document; undefined when the body holds none. */
	message: XmlElement | undefined;
	/** `PRPA_IN201301UV02`; `CDA` and its LOINC code for a document; `HL7v3` for anything else. */
	messageType: string;
	header: Header;
	/** Why it is refused, where that is known without looking into it. */
	failure: Failure | undefined;
}

export const noHeader: Header = { messageId: '', zone: undefined, acceptAckCode: '' };
/** The parts of a message that a log, a metric or an answer may repeat. */
const interactionName = /^[A-Z]{4}_[A-Z]{2}\d{6}[A-Z]{2}\d{2}$/;
const documentCode = /^[A-Za-z0-9.-]{1,20}$/;

/** Reads a body down to its message. Never throws for what is wrong with it. */
export function receive(bytes: Uint8Array, limits: XmlLimits): Received {
	const nothing: Received = { envelope: undefined, message: undefined, messageType: 'HL7v3', header: noHeader, failure: undefined };
	try {
		const { envelope, message } = unwrap(readXml(bytes, limits));
		if (message === undefined) return { ...nothing, envelope, failure: emptyEnvelope() };
		if (message.namespace !== hl7Namespace) {
			return { ...nothing, envelope, failure: new Failure('not-hl7', `the element of the body is not in the namespace ${hl7Namespace}`) };
		}
		return { envelope, message, messageType: typeOf(message), header: headerOf(message), failure: undefined };
	} catch (error) {
		if (error instanceof Failure) return { ...nothing, failure: error };
		throw error;
	}
}

function typeOf(message: XmlElement): string {
	if (message.name !== 'ClinicalDocument') return interactionName.test(message.name) ? message.name : 'HL7v3';
	const code = message.first('code')?.attribute('code') ?? '';
	return documentCode.test(code) ? `CDA ${code}` : 'CDA';
}

/**
 * Turns a message into changes to its site's record. It is pure: the same message and `reading` give the same change-set.
 * @throws Failure when the message is refused; its location is that of the fault
 */
export function interpret({ message, messageType, header, failure }: Received, reading: Reading): ChangeSet {
	if (failure) throw failure;
	if (message === undefined) throw new Error('a body without a message has a failure');
	const interaction = interactionOf(message.name);
	if (interaction === undefined) throw unsupported(message, messageType);
	requireMessageId(message, header);
	const { settings } = reading;
	requireProcessingCode(message, settings);
	const context = new Context(settings.default_authority, messageZone(header.zone, reading));
	const changes = interaction.changes(message, context);
	return readIn(context.zone, settings, { changes, flags: context.flags });
}

function unsupported(message: XmlElement, messageType: string): Failure {
	const code: FailureCode = 'unsupported-message-type';
	if (messageType === 'HL7v3') return new Failure(code, 'the element of the body is no interaction that is supported');
	return failureAt(code, message, `interaction ${messageType} is not supported`);
}
