import { Failure, failureCodes } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import type { MppsDelivery } from '#record/delivery.ts';
import { deliverSoon } from '../http/deliver.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { MppsContext } from './context.ts';
import { countReport } from './count.ts';

/**
 * `POST /ingest`: one report about a procedure step, answered when it is committed or refused; what is refused is in the
 * message log.
 * @throws Failure for what is no report at all, and `unavailable` when the service cannot store it now
 */
export async function ingest(context: MppsContext, request: HttpRequest): Promise<HttpAnswer> {
	const { directory, metrics, clock } = context;
	const grant = directory.grantOfKey(request.header('x-api-key'));
	if (grant === undefined) {
		metrics.accessRefusals.inc({ protocol: 'http', reason: 'key' });
		throw new Failure('unauthenticated', 'a valid X-API-Key header is required');
	}
	checkMediaType(request.header('content-type'), request.header('content-encoding'));
	if (request.body.length === 0) throw new Failure('invalid', 'the body is empty, a JSON object is expected');
	const receivedAtMs = clock.nowMs();
	const delivery: MppsDelivery = {
		id: newId(receivedAtMs),
		kind: 'mpps',
		operation: 'report',
		siteId: grant.siteId,
		clientId: nilId,
		surface: 'mpps',
		source: grant.keyId,
		receivedAtMs,
		bytes: request.body,
	};
	const reply = await deliverSoon(context, delivery);
	countReport(metrics, 'mpps', grant.siteSlug, reply);
	const status = reply.outcome === 'refused' ? failureCodes[reply.failure?.code ?? 'unprocessable'].status : 200;
	return jsonAnswer(status, reply.acks[0] ?? {});
}

/** @throws Failure `unsupported-media-type` */
function checkMediaType(contentType: string | undefined, contentEncoding: string | undefined): void {
	const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
	if (type !== 'application/json') throw new Failure('unsupported-media-type', 'Content-Type is application/json');
	const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
	if (charset !== undefined && !/^"?utf-?8"?$/.test(charset)) {
		throw new Failure('unsupported-media-type', 'JSON is sent in UTF-8 (RFC 8259 §8.1)');
	}
	if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
		throw new Failure('unsupported-media-type', 'Content-Encoding is not supported');
	}
}
