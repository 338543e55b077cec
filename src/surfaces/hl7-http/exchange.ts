import type { KeyGrant } from '#access/directory.ts';
import { failureCodes } from '#core/failure.ts';
import type { Hl7Answer, Hl7v2Delivery, Hl7v3Delivery, Reply } from '#record/delivery.ts';
import { deliverSoon } from '../http/deliver.ts';
import type { IngestContext } from '../http/ingest-surface.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { HttpAnswer } from '../http/message.ts';
import { messageTypeLabel } from '../http/message-type-label.ts';

/** Hands a message to its site and counts its outcome. `started` is the time at which its last byte arrived. */
export async function exchange(
	context: IngestContext,
	grant: KeyGrant,
	delivery: Hl7v2Delivery | Hl7v3Delivery,
	started: number,
): Promise<Reply<Hl7Answer>> {
	const { metrics } = context;
	const reply = await deliverSoon(context, delivery);
	const { messageType, outcome, failure } = reply;
	metrics.hl7Messages.inc({ surface: 'hl7-http', type: messageTypeLabel(messageType), outcome });
	metrics.siteMessages.inc({ site: grant.siteSlug, outcome });
	if (failure !== undefined) metrics.hl7Refusals.inc({ surface: 'hl7-http', code: failure.code });
	metrics.acknowledgementSeconds.observe({ surface: 'hl7-http' }, (performance.now() - started) / 1000);
	return reply;
}

/** Returns the HTTP status of a reply. */
export function statusOf({ outcome, failure }: Pick<Reply, 'outcome' | 'failure'>): number {
	return outcome === 'refused' ? failureCodes[failure?.code ?? 'unprocessable'].status : 200;
}

/** Renders `{success, message_type, ack}`, where `ack` is the acknowledgement as text. */
export function jsonReply(reply: Reply<Hl7Answer>, text: (ack: Uint8Array) => string): HttpAnswer {
	const { outcome, messageType, answer, failure } = reply;
	const [acknowledgement] = answer.acknowledgements;
	const type = messageType === '' ? {} : { message_type: messageType };
	const ack = acknowledgement === undefined ? {} : { ack: text(acknowledgement) };
	if (outcome !== 'refused') return jsonAnswer(200, { success: true, ...type, ...ack });
	return jsonAnswer(statusOf(reply), { success: false, ...type, error: failure?.diagnostics ?? 'the message was refused', ...ack });
}
