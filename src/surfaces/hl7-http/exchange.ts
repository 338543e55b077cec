import type { KeyGrant } from '#access/directory.ts';
import { Failure, failureCodes } from '#core/failure.ts';
import { messageTypeLabel } from '#core/metrics.ts';
import type { Hl7v2Delivery, Hl7v3Delivery, Reply } from '#record/delivery.ts';
import { deliverSoon } from '../http/deliver.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { Hl7HttpContext } from './context.ts';

/** @throws Failure `unauthenticated` */
export function grantOf({ directory, metrics }: Hl7HttpContext, request: HttpRequest): KeyGrant {
	const grant = directory.grantOfKey(request.header('x-api-key'));
	if (grant !== undefined) return grant;
	metrics.accessRefusals.inc({ protocol: 'http', reason: 'key' });
	throw new Failure('unauthenticated', 'a valid X-API-Key header is required');
}

/** Hands a message to its site and counts what became of it. `started` is when its last byte was there. */
export async function exchange(
	context: Hl7HttpContext,
	grant: KeyGrant,
	delivery: Hl7v2Delivery | Hl7v3Delivery,
	started: number,
): Promise<Reply> {
	const { metrics } = context;
	const reply = await deliverSoon(context, delivery);
	const { messageType, outcome, failure } = reply;
	metrics.hl7Messages.inc({ surface: 'hl7-http', type: messageTypeLabel(messageType), outcome });
	metrics.siteMessages.inc({ site: grant.siteSlug, outcome });
	if (failure !== undefined) metrics.hl7Refusals.inc({ surface: 'hl7-http', code: failure.code });
	metrics.acknowledgementSeconds.observe({ surface: 'hl7-http' }, (performance.now() - started) / 1000);
	return reply;
}

/** HTTP status of a reply. */
export function statusOf({ outcome, failure }: Reply): number {
	return outcome === 'refused' ? failureCodes[failure?.code ?? 'unprocessable'].status : 200;
}

/** `{success, message_type, ack}`; `ack` is the acknowledgement as text. */
export function jsonReply(reply: Reply, text: (ack: Uint8Array) => string): HttpAnswer {
	const { outcome, messageType, acks, failure } = reply;
	const type = messageType === '' ? {} : { message_type: messageType };
	const ack = acks[0] === undefined ? {} : { ack: text(acks[0]) };
	if (outcome !== 'refused') return jsonAnswer(200, { success: true, ...type, ...ack });
	return jsonAnswer(statusOf(reply), { success: false, ...type, error: failure?.diagnostics ?? 'the message was refused', ...ack });
}
