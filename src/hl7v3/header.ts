import { zoneOf } from '#fhir/mapping/timestamp.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import { failureAt, keyLengthMax } from './context.ts';
import type { XmlElement } from './element.ts';

/** The transmission wrapper of a message (MCCI_MT000100UV01), as far as it is answered. */
export interface Header {
	/** `root^extension` of the message's id; '' when it has none that can be a key. */
	messageId: string;
	/** Offset of creationTime; undefined when it has none. */
	zone: string | undefined;
	/** HL7 v3 AcknowledgementCondition: AL, ER, NE, SU. */
	acceptAckCode: string;
}

export function headerOf(message: XmlElement): Header {
	const id = message.first('id');
	const parts = id === undefined || id.isNull ? [] : [id.attribute('root'), id.attribute('extension')].filter((part) => part !== '');
	const messageId = parts.join('^');
	return {
		messageId: messageId.length > keyLengthMax ? '' : messageId,
		zone: zoneOf(message.first('creationTime')?.attribute('value') ?? ''),
		acceptAckCode: message.first('acceptAckCode')?.attribute('code').toUpperCase() ?? '',
	};
}

/** @throws Failure without an id by which the message could be acknowledged */
export function requireMessageId(message: XmlElement, { messageId }: Header): void {
	if (messageId !== '') return;
	const id = message.first('id');
	if (id?.attribute('root') || id?.attribute('extension')) {
		throw failureAt('value-too-long', id, `the message id has more than ${keyLengthMax} characters`);
	}
	throw failureAt('required-field-missing', id ?? message, 'the message has no id: it could not be acknowledged');
}

/** Returns the ProcessingID of a message: P, T or D, or what it has in place of one; P when it states none. */
export function processingCodeOf(message: XmlElement | undefined): string {
	return message?.first('processingCode')?.attribute('code').trim().toUpperCase() || 'P';
}

/** @throws Failure if the message is for training or debugging, and such ones are not taken from this sender */
export function requireProcessingCode(message: XmlElement, settings: Settings): void {
	if (settingOf(settings, 'processing_ids').includes(processingCodeOf(message))) return;
	const text = 'processingCode is not one that is taken from this sender; the setting processing_ids says which are';
	throw failureAt('unsupported-processing-id', message.first('processingCode') ?? message, text);
}
