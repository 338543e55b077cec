import { isAscii } from 'node:buffer';
import type { KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import { batchFlag, countMessages, splitMessages } from '#hl7v2/batch.ts';
import { resolveCharset } from '#hl7v2/charset.ts';
import { statedCharset } from '#hl7v2/head.ts';
import { latin1 } from '#hl7v2/latin1.ts';
import { declaredCharset, Message } from '#hl7v2/message.ts';
import type { Hl7v2Delivery } from '#record/delivery.ts';
import { withContentCharset } from '#record/settings/content-charset.ts';
import type { Settings } from '#record/settings/settings.ts';
import { type IngestContext, postedBy, senderOf } from '../http/ingest-surface.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import { exchange, jsonReply } from './exchange.ts';
import { checkMediaType } from './media-type.ts';

const startOfBlock = 0x0b;
const endOfBlock = 0x1c;

/**
 * `POST /v2/ingest` takes one HL7 v2 message and answers when it is committed or refused. A refusal has the status of its failure, the
 * sentence and the whole acknowledgement.
 * @throws Failure when the body is no message, and `unavailable` when the service cannot store it now
 */
export async function ingest(context: IngestContext, request: HttpRequest): Promise<HttpAnswer> {
	const started = performance.now();
	const grant = senderOf(context, request);
	const charset = checkMediaType(request);
	const delivery = deliveryOf(context, grant, request, charset);
	const reply = await exchange(context, grant, delivery, started);
	return jsonReply(reply, (ack) => acknowledgementText(ack, delivery.settings.charset));
}

/**
 * Passes on the body. Bytes that hold no message at all are passed on as well: they are refused behind the gateway, which puts them into
 * the message log.
 */
function onlyMessage(body: Uint8Array): Uint8Array {
	if (body.length === 0) throw new Failure('not-hl7', 'the body is empty, one HL7 v2 message is expected');
	if (body[0] === startOfBlock || body.includes(endOfBlock)) {
		throw new Failure('not-hl7', 'the body has MLLP framing bytes (0x0B, 0x1C); over HTTP the message is sent without them');
	}
	const found = countMessages(body);
	if (found > 1) throw new Failure('invalid', `the body holds ${found} messages, one is expected`);
	return (found === 1 ? splitMessages(body)[0] : undefined) ?? body;
}

function deliveryOf(context: IngestContext, grant: KeyGrant, request: HttpRequest, charset: string | undefined): Hl7v2Delivery {
	const { body } = request;
	const flag = batchFlag(body);
	return {
		...postedBy(grant, context, request, onlyMessage(body)),
		kind: 'hl7v2',
		surface: 'hl7-http',
		settings: charset === undefined ? grant.settings : settingsWith(charset, grant.settings, body),
		...(flag === undefined ? {} : { batchFlag: flag }),
	};
}

const byteOrderMark = Buffer.from('\ufeff');

/** The setting of the sender, MSH-18 and a byte order mark come before the charset of Content-Type. Text in ASCII needs none. */
function settingsWith(charset: string, settings: Settings, body: Uint8Array): Settings {
	if (settings.charset !== undefined || isAscii(body) || byteOrderMark.equals(body.subarray(0, byteOrderMark.length))) return settings;
	return statedCharset(body) === '' ? withContentCharset(settings, charset) : settings;
}

/** Decodes an acknowledgement, which is in the sender's character set; JSON is Unicode. `charset` holds whatever MSH-18 says. */
function acknowledgementText(ack: Uint8Array, charset: string | undefined): string {
	const bytes = latin1(ack);
	if (isAscii(ack)) return bytes;
	const header = Message.parse(ack).segments[0];
	return resolveCharset(charset ?? (header === undefined ? '' : declaredCharset(header)), ack).charset.decode(bytes);
}
