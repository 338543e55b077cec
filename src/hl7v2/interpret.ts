import { isAscii } from 'node:buffer';
import { Failure, type FailureCode } from '#core/failure.ts';
import { messageZone, readIn } from '#fhir/mapping/local-zone.ts';
import { toInstant, zoneOf } from '#fhir/mapping/timestamp.ts';
import type { ChangeSet } from '#record/change-set.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import type { Hl7v2Event } from './events/event.ts';
import { codeOf, eventOf, messageCodes } from './events/index.ts';
import { type Hl7v2Limits, hl7v2LimitDefinitions } from './limits.ts';
import type { Message } from './message.ts';
import { Context, keyLengthMax } from './segments/context.ts';

export type Interpreted =
	/** `leftOut`: why results were left out of it. */
	| { kind: 'apply'; messageType: string; changeSet: ChangeSet; leftOut: readonly Failure[] }
	/** The sender's settings say to acknowledge the event and do nothing. */
	| { kind: 'ignore'; messageType: string };

export type InterpretLimits = Partial<Pick<Hl7v2Limits, 'observationsMax'>>;

/** The reading of a test that says nothing else. The service says the zone of its machine. */
const somewhere = 'UTC';

/**
 * Interprets a message as changes to its site's record. It is pure: the same message, settings and zone of the host give the same change-set.
 * @throws Failure when the message is refused; its location is that of the fault
 */
export function interpret(message: Message, settings: Settings, limits: InterpretLimits = {}, hostTimeZone = somewhere): Interpreted {
	message.replaceControls();
	const messageType = checkedHeader(message, settings);
	if (isIgnored(messageType, settings)) return { kind: 'ignore', messageType };
	const event = checkedEvent(messageType, settings);
	if (message.first('MSH')?.text(14)) {
		throw headerFailure('segment-sequence', 14, 'MSH-14 continues a message that did not come before it in the same batch');
	}
	if (message.fault !== undefined) throw message.fault;
	const header = message.first('MSH');
	const made = header?.text(7) ?? '';
	const zone = messageZone(zoneOf(made), { settings, hostTimeZone });
	const observationsMax = limits.observationsMax ?? hl7v2LimitDefinitions.observationsMax.default;
	const context = new Context(settings, zone, observationsMax, toInstant(made, zone), header);
	// The character sets of table 0211 agree on ASCII, so a plain message assumes nothing.
	if (message.hasStrayEscape) {
		context.flag('charset-assumed', 'the message has escape sequences of ISO 2022 (0x1B), and MSH-18 declares no set that they may reach');
	} else if (!isAscii(message.bytes) && message.charsetAssumed) {
		context.flag('charset-assumed', `MSH-18 names no character set that the bytes are in; read as ${message.charset.name}`);
	}
	if (message.malformedSegments > 0) context.flag('segment-skipped', malformed(message.malformedSegments));
	const stated = event.changes(message, context);
	if (message.hasReplacedControls) {
		context.flag('unreadable-value', 'the message has control characters, of which FHIR allows none in a text; each was read as U+FFFD');
	}
	const changes = context.mentions === undefined ? stated : [...context.mentions.changes(), ...stated];
	const changeSet = readIn(zone, settings, { changes, flags: context.flags });
	return { kind: 'apply', messageType, changeSet, leftOut: context.leftOut };
}

function malformed(count: number): string {
	const [lines, they] = count === 1 ? ['1 line begins', 'it holds'] : [`${count} lines begin`, 'they hold'];
	return `${lines} with no segment id and a field separator, and what ${they} was left out`;
}

/** MSH-9 to MSH-12. Returns MSH-9.1^MSH-9.2. */
function checkedHeader(message: Message, settings: Settings): string {
	const { messageType, controlId, version } = message;
	if (messageType === '') throw headerFailure('required-field-missing', 9, 'MSH-9 (message type) is missing');
	if (messageType.length > keyLengthMax) {
		throw headerFailure('value-too-long', 9, `MSH-9 (message type) has more than ${keyLengthMax} characters`);
	}
	if (controlId === '') {
		throw headerFailure('required-field-missing', 10, 'MSH-10 (message control id) is missing: it could not be acknowledged');
	}
	if (controlId.length > keyLengthMax) {
		throw headerFailure('value-too-long', 10, `MSH-10 (message control id) has more than ${keyLengthMax} characters`);
	}
	if (version !== '' && !isVersion2(version)) {
		throw headerFailure('unsupported-version', 12, 'MSH-12 names a version that is not an HL7 v2 version');
	}
	checkProcessingId(message, settings);
	return messageType;
}

/** v2.5.1 §2.9.2: the receiver checks that MSH-11 is appropriate. An empty one counts as P. */
function checkProcessingId(message: Message, settings: Settings): void {
	const processingId = message.first('MSH')?.text(11).trim().toUpperCase() || 'P';
	if (settingOf(settings, 'processing_ids').includes(processingId)) return;
	const text = 'MSH-11 (processing id) is not one that is taken from this sender; the setting processing_ids says which are';
	throw headerFailure('unsupported-processing-id', 11, text);
}

function isVersion2(version: string): boolean {
	const trimmed = version.trim();
	return trimmed === '2' || trimmed.startsWith('2.');
}

/** The sender's setting lists triggers (`A60`) or whole types (`ORM^O01`). */
function isIgnored(messageType: string, settings: Settings): boolean {
	const ignore = settingOf(settings, 'ignore');
	return ignore.length > 0 && (ignore.includes(messageType) || ignore.includes(triggerOf(messageType)));
}

function triggerOf(messageType: string): string {
	return messageType.slice(messageType.indexOf('^') + 1);
}

function checkedEvent(messageType: string, settings: Settings): Hl7v2Event {
	const event = eventOf(messageType);
	if (event !== undefined && (event.always || settingOf(settings, 'also').includes(triggerOf(messageType)))) return event;
	const named = printable.test(messageType) ? messageType : 'MSH-9';
	if (!messageCodes.includes(codeOf(messageType))) {
		throw headerFailure('unsupported-message-type', 9, `message type ${named} is not supported`);
	}
	const remedy = event === undefined ? '' : ' for this sender';
	throw headerFailure('unsupported-event', 9, `event ${named} is not supported${remedy}`);
}

/** Matches the parts of MSH-9 that may be repeated to the sender and in logs: a type is short and has only harmless characters. */
const printable = /^[A-Za-z0-9_^*]{1,16}$/;

function headerFailure(code: FailureCode, field: number, text: string): Failure {
	return new Failure(code, text, { location: { segment: 'MSH', sequence: 1, field } });
}
