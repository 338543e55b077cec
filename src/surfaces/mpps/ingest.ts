import { Failure, failureCodes } from '#core/failure.ts';
import type { MppsDelivery } from '#record/delivery.ts';
import { deliverSoon } from '../http/deliver.ts';
import { type IngestContext, postedBy, senderOf } from '../http/ingest-surface.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import { bodyType } from '../http/media-type.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import { countReport } from './count.ts';
import type { MppsMetrics } from './metrics.ts';

export type MppsContext = IngestContext & { metrics: MppsMetrics };

/**
 * `POST /ingest` takes one report about a procedure step and answers when it is committed or refused. A refused report is in the message
 * log.
 * @throws Failure when the body is no report at all, and `unavailable` when the service cannot store it now
 */
export async function ingest(context: MppsContext, request: HttpRequest): Promise<HttpAnswer> {
	const grant = senderOf(context, request);
	checkMediaType(request);
	if (request.body.length === 0) throw new Failure('invalid', 'the body is empty, a JSON object is expected');
	const delivery: MppsDelivery = { ...postedBy(grant, context, request, request.body), kind: 'mpps', operation: 'report', surface: 'mpps' };
	const reply = await deliverSoon(context, delivery);
	countReport(context.metrics, 'mpps', grant.siteSlug, reply);
	const status = reply.outcome === 'refused' ? failureCodes[reply.failure?.code ?? 'unprocessable'].status : 200;
	return jsonAnswer(status, reply.answer);
}

/** @throws Failure `unsupported-media-type` */
function checkMediaType(request: HttpRequest): void {
	const { parameters } = bodyType(request, ['application/json']);
	const charset = parameters['charset'];
	if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
		throw new Failure('unsupported-media-type', 'JSON must be in UTF-8 (RFC 8259 §8.1)');
	}
}
