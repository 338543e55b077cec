import { isAscii } from 'node:buffer';
import type { KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import { batchFlag, countMessages, splitMessages } from '#hl7v2/batch.ts';
import { resolveCharset } from '#hl7v2/charset.ts';
import { latin1 } from '#hl7v2/latin1.ts';
import { declaredCharset, Message } from '#hl7v2/message.ts';
import type { Hl7v2Delivery } from '#record/delivery.ts';
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
	checkMediaType(request);
	const reply = await exchange(context, grant, deliveryOf(context, grant, request), started);
	return jsonReply(reply, acknowledgementText);
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

function deliveryOf(context: IngestContext, grant: KeyGrant, request: HttpRequest): Hl7v2Delivery {
	const { body } = request;
	const flag = batchFlag(body);
	return {
		...postedBy(grant, context, request, onlyMessage(body)),
		kind: 'hl7v2',
		surface: 'hl7-http',
		...(flag === undefined ? {} : { batchFlag: flag }),
	};
}

/** Decodes an acknowledgement, which is in the sender's character set; JSON is Unicode. */
function acknowledgementText(ack: Uint8Array): string {
	const bytes = latin1(ack);
	if (isAscii(ack)) return bytes;
	const header = Message.parse(ack).segments[0];
	return resolveCharset(header === undefined ? '' : declaredCharset(header), ack).charset.decode(bytes);
}
