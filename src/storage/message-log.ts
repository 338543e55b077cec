import type { FailureRecord } from '#core/failure.ts';
import type { Delivery, Outcome } from '#record/delivery.ts';
import type { Connection } from './connection.ts';
import { packBytes, plainArray, textArray } from './statement.ts';
import { findAccepted } from './statements/find-accepted.ts';
import { insertAccepted, insertMessages } from './statements/insert-messages.ts';

export interface LoggedMessage {
	delivery: Delivery;
	digest: string;
	sequence: bigint;
	messageType: string;
	controlId: string;
	outcome: Outcome;
	failure: FailureRecord | undefined;
	/** JSON texts, or null. */
	flags: string | null;
	changed: string | null;
	/** The settings by which it was read. */
	settings: string | null;
	/** The accepted message that a duplicate repeats, or the message that is replayed. */
	replayOf: string | null;
	/** The business identifier values of its patients: one, or two when patients are merged or separated. */
	patients: readonly string[];
	acks: readonly Uint8Array[];
}

/**
 * How a message is logged. `cut`: without what it says of itself but for a few letters; `bare`: without its bytes as well. So
 * whatever it is that the log does not take, a row says that the message came and was refused.
 */
export type LogForm = 'whole' | 'cut' | 'bare';

/** A control id or a type of this length can still be recognised, and every index takes it. */
const cutLength = 20;

export function shortened(message: LoggedMessage, form: Exclude<LogForm, 'whole'>): LoggedMessage {
	const { delivery, failure } = message;
	const isBare = form === 'bare';
	const short = (text: string) => (isBare ? '' : text.replace(/[^\w.:^ -]/g, '').slice(0, cutLength));
	return {
		...message,
		delivery: { ...delivery, source: short(delivery.source), bytes: isBare ? noBytes : delivery.bytes },
		messageType: short(message.messageType),
		controlId: short(message.controlId),
		failure: failure && { code: failure.code, diagnostics: isBare ? '' : failure.diagnostics },
		flags: null,
		changed: null,
		settings: null,
		patients: [],
		acks: isBare ? [] : message.acks,
	};
}

/** Several acknowledgements of one message are kept in one column, parted by the byte that ends an MLLP block. */
const ackSeparator = Buffer.from([0x1c]);

function joinAcks(acks: readonly Uint8Array[]): Uint8Array {
	if (acks.length === 1) return acks[0] as Uint8Array;
	return Buffer.concat(acks.flatMap((ack, index) => (index === 0 ? [ack] : [ackSeparator, ack])));
}

function splitAcks(bytes: Buffer): Uint8Array[] {
	if (bytes.length === 0) return [];
	const cut = bytes.indexOf(0x1c);
	return cut < 0 ? [bytes] : [bytes.subarray(0, cut), ...splitAcks(bytes.subarray(cut + 1))];
}

/** Writes the batch's rows of the message log. A duplicate is logged without its bytes, because they equal those of the first message. */
export function logMessages(connection: Connection, messages: readonly LoggedMessage[], committedAt: string): Promise<unknown> {
	const bytes = packBytes(messages.map(({ delivery, outcome }) => (outcome === 'duplicate' ? noBytes : delivery.bytes)));
	const acks = packBytes(messages.map((message) => joinAcks(message.acks)));
	const column = (of: (message: LoggedMessage) => string | null) => textArray(messages.map(of));
	const ids = (of: (message: LoggedMessage) => string | number | null) => plainArray(messages.map(of));
	return connection.run(insertMessages, [
		ids(({ delivery }) => delivery.siteId),
		ids(({ delivery }) => delivery.id),
		ids(({ sequence }) => String(sequence)),
		ids(({ delivery }) => delivery.kind),
		column(({ delivery }) => delivery.surface),
		ids(({ delivery }) => delivery.clientId),
		column(({ delivery }) => delivery.source),
		column(({ delivery }) => new Date(delivery.receivedAtMs).toISOString()),
		column(() => committedAt),
		column((message) => message.messageType),
		column((message) => message.controlId),
		column((message) => message.outcome),
		column((message) => message.failure?.code ?? null),
		column((message) => message.failure?.diagnostics ?? null),
		column((message) => message.flags),
		column((message) => message.changed),
		ids((message) => message.replayOf),
		column(({ patients }) => patients[0] ?? null),
		column(({ patients }) => patients[1] ?? null),
		bytes.offsets,
		bytes.lengths,
		acks.offsets,
		acks.lengths,
		bytes.bytes,
		acks.bytes,
		column((message) => message.settings),
	]);
}

const noBytes = new Uint8Array(0);

export function logAccepted(connection: Connection, messages: readonly LoggedMessage[], committedAt: string): Promise<unknown> {
	return connection.run(insertAccepted, [
		plainArray(messages.map(({ delivery }) => delivery.siteId)),
		plainArray(messages.map(({ delivery }) => delivery.clientId)),
		textArray(messages.map(({ controlId }) => controlId)),
		plainArray(messages.map(({ digest }) => digest)),
		plainArray(messages.map(({ delivery }) => delivery.id)),
		textArray(messages.map(() => committedAt)),
	]);
}

export interface AcceptedMessage {
	messageId: string;
	digest: string;
	/** Present when the bytes were the same. */
	acks: readonly Uint8Array[] | undefined;
}

export interface MessageKey {
	siteId: string;
	clientId: string;
	controlId: string;
	digest: string;
}

export function senderKey({ siteId, clientId, controlId }: Omit<MessageKey, 'digest'>): string {
	return `${siteId}${clientId}${controlId}`;
}

/** Returns the messages accepted under the control ids of a batch, by `senderKey`. */
export async function findAcceptedMessages(connection: Connection, keys: readonly MessageKey[]): Promise<Map<string, AcceptedMessage[]>> {
	const found = new Map<string, AcceptedMessage[]>();
	if (keys.length === 0) return found;
	const rows = await connection.run(findAccepted, [
		plainArray(keys.map((key) => key.siteId)),
		plainArray(keys.map((key) => key.clientId)),
		textArray(keys.map((key) => key.controlId)),
		plainArray(keys.map((key) => key.digest)),
	]);
	for (const [siteId, clientId, controlId, digest, messageId, ack] of rows as [string, string, string, string, string, string | null][]) {
		const acks = ack === null ? undefined : splitAcks(Buffer.from(ack.slice(2), 'hex'));
		const key = senderKey({ siteId, clientId, controlId });
		const held = found.get(key);
		if (held) held.push({ messageId, digest, acks });
		else found.set(key, [{ messageId, digest, acks }]);
	}
	return found;
}
