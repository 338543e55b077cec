import { isAscii } from 'node:buffer';
import type { KeyGrant } from '#access/directory.ts';
import { Failure, failureCodes } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import { messageTypeLabel } from '#core/metrics.ts';
import { countMessages, splitMessages } from '#hl7v2/batch.ts';
import { resolveCharset } from '#hl7v2/charset.ts';
import { latin1 } from '#hl7v2/latin1.ts';
import { declaredCharset, Message } from '#hl7v2/message.ts';
import type { Hl7v2Delivery, Reply } from '#record/delivery.ts';
import { deliverSoon } from '../http/deliver.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { Hl7HttpContext } from './context.ts';
import { checkMediaType } from './media-type.ts';

const startOfBlock = 0x0b;
const endOfBlock = 0x1c;

/**
 * `POST /v2/ingest`: one HL7 v2 message, answered when it is committed or refused. A refusal has the status of its
 * failure, the sentence and the whole acknowledgement.
 * @throws Failure for what is no message, and `unavailable` when the service cannot store it now
 */
export async function ingest(context: Hl7HttpContext, request: HttpRequest): Promise<HttpAnswer> {
	const started = performance.now();
	const grant = context.directory.grantOfKey(request.header('x-api-key'));
	if (grant === undefined) {
		context.metrics.accessRefusals.inc({ protocol: 'http', reason: 'key' });
		throw new Failure('unauthenticated', 'a valid X-API-Key header is required');
	}
	checkMediaType(request.header('content-type'), request.header('content-encoding'));
	const reply = await deliverSoon(context, deliveryOf(context, grant, onlyMessage(request.body)));
	count(context, grant, reply);
	context.metrics.acknowledgementSeconds.observe({ surface: 'hl7-http' }, (performance.now() - started) / 1000);
	return answerOf(reply);
}

/** What holds no message at all is passed on as well: it is refused behind the gateway, and so comes into the message log. */
function onlyMessage(body: Uint8Array): Uint8Array {
	if (body.length === 0) throw new Failure('not-hl7', 'the body is empty, one HL7 v2 message is expected');
	if (body[0] === startOfBlock || body.includes(endOfBlock)) {
		throw new Failure('not-hl7', 'the body has MLLP framing bytes (0x0B, 0x1C); over HTTP the message is sent without them');
	}
	const found = countMessages(body);
	if (found > 1) throw new Failure('invalid', `the body holds ${found} messages, one is expected`);
	return (found === 1 ? splitMessages(body)[0] : undefined) ?? body;
}

function deliveryOf({ clock }: Hl7HttpContext, grant: KeyGrant, bytes: Uint8Array): Hl7v2Delivery {
	const receivedAtMs = clock.nowMs();
	return {
		id: newId(receivedAtMs),
		kind: 'hl7v2',
		siteId: grant.siteId,
		clientId: nilId,
		surface: 'hl7-http',
		source: grant.keyId,
		receivedAtMs,
		bytes,
		policy: { also: [], ignore: [], enhancedAck: false, defaultAuthority: grant.defaultAuthority },
	};
}

function count({ metrics }: Hl7HttpContext, { siteSlug }: KeyGrant, { messageType, outcome, failure }: Reply): void {
	metrics.hl7Messages.inc({ surface: 'hl7-http', type: messageTypeLabel(messageType), outcome });
	metrics.siteMessages.inc({ site: siteSlug, outcome });
	if (failure !== undefined) metrics.hl7Refusals.inc({ surface: 'hl7-http', code: failure.code });
}

function answerOf({ outcome, messageType, acks, failure }: Reply): HttpAnswer {
	const type = messageType === '' ? {} : { message_type: messageType };
	const ack = acks[0] === undefined ? {} : { ack: acknowledgementText(acks[0]) };
	if (outcome !== 'refused') return jsonAnswer(200, { success: true, ...type, ...ack });
	const { status } = failureCodes[failure?.code ?? 'unprocessable'];
	return jsonAnswer(status, { success: false, ...type, error: failure?.diagnostics ?? 'the message was refused', ...ack });
}

/** An acknowledgement is in the sender's character set; JSON is Unicode. */
function acknowledgementText(ack: Uint8Array): string {
	const bytes = latin1(ack);
	if (isAscii(ack)) return bytes;
	const header = Message.parse(ack).segments[0];
	return resolveCharset(header === undefined ? '' : declaredCharset(header), ack).charset.decode(bytes);
}
