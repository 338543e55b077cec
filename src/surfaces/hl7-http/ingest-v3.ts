import type { KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import { selfContained } from '#hl7v3/encoding.ts';
import type { Hl7v3Delivery } from '#record/delivery.ts';
import { type IngestContext, postedBy, senderOf } from '../http/ingest-surface.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import { exchange, jsonReply, statusOf } from './exchange.ts';
import { answersXml, checkXmlMediaType } from './media-type.ts';

/**
 * `POST /v3/ingest` takes one HL7 v3 message and answers when it is committed or refused. The answer is MCCI_IN000002UV01 in the media
 * type of the message, or the JSON of `/v2/ingest` if the caller accepts that. A refusal has the status of its failure.
 * @throws Failure for an empty body, and `unavailable` when the service cannot store it now
 */
export async function ingestV3(context: IngestContext, request: HttpRequest): Promise<HttpAnswer> {
	const started = performance.now();
	const grant = senderOf(context, request);
	const { type, charset } = checkXmlMediaType(request);
	const xml = answersXml(request.header('accept'), type);
	if (request.body.length === 0) throw new Failure('not-hl7', 'the body is empty, one HL7 v3 message is expected');
	const reply = await exchange(context, grant, deliveryOf(context, grant, request, selfContained(request.body, charset)), started);
	if (!xml) return jsonReply(reply, (ack) => Buffer.from(ack).toString('utf8'));
	const [body = ''] = reply.answer.acknowledgements;
	return { status: statusOf(reply), headers: { 'Content-Type': `${type}; charset=utf-8` }, body };
}

function deliveryOf(context: IngestContext, grant: KeyGrant, request: HttpRequest, bytes: Uint8Array): Hl7v3Delivery {
	return {
		...postedBy(grant, context, request, bytes),
		kind: 'hl7v3',
		surface: 'hl7-http',
	};
}
