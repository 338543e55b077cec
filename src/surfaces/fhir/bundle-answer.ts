import { Failure, failureCodes } from '#core/failure.ts';
import { operationOutcome } from '#fhir/operation-outcome.ts';
import type { BundleRead, FhirAnswer } from '#record/delivery.ts';
import { type HttpAnswer, type HttpRequest, type Route, statusTexts } from '../http/message.ts';
import { Router } from '../http/router.ts';

/**
 * Builds the Bundle that answers a batch or transaction. Entries that only read are carried out now, after the commit
 * (FHIR R4 §3.1.0.11.2: GET comes last).
 */
export async function bundleAnswer(
	request: HttpRequest,
	{ type, entries: written, reads }: FhirAnswer & { kind: 'bundle' },
	routes: readonly Route[],
	bytesMax: number,
): Promise<string> {
	const router = new Router(routes);
	const entries = written.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('utf8'));
	let bytes = 0;
	for (const read of reads) {
		const entry =
			bytes > bytesMax
				? refused(new Failure('too-large', 'the Bundle requests more than fits into one answer'))
				: await readEntry(request, read, router);
		bytes += entry.length;
		entries[read.index] = entry;
	}
	const listed = entries.length === 0 ? '' : `,"entry":[${entries.join(',')}]`;
	return `{"resourceType":"Bundle","type":"${type}"${listed}}`;
}

async function readEntry(request: HttpRequest, { url, ifNoneMatch, ifModifiedSince }: BundleRead, router: Router): Promise<string> {
	const conditions = new Map([
		['if-none-match', ifNoneMatch],
		['if-modified-since', ifModifiedSince],
	]);
	const [path = '', query = ''] = url.replace(/^\//, '').split(/\?(.*)/s);
	try {
		const match = router.match('GET', `/fhir/${path}`);
		if (match.kind !== 'route') throw new Failure('not-found', 'there is no such URL');
		const answer = await match.route.handle({
			...request,
			method: 'GET',
			path: match.path,
			query,
			params: match.params,
			keyScope: match.route.keyScope,
			header: (name) => (keptHeaders.has(name) ? request.header(name) : conditions.get(name)),
		});
		return entryOf(answer);
	} catch (error) {
		if (!(error instanceof Failure)) throw error;
		return refused(error);
	}
}

function refused(failure: Failure): string {
	return `{"response":{"status":"${statusLine(failureCodes[failure.code].status)}","outcome":${operationOutcome(failure)}}}`;
}

/** Headers of the Bundle's own request that also apply to its entries. */
const keptHeaders: ReadonlySet<string> = new Set(['x-api-key', 'authorization', 'accept', 'prefer']);

function statusLine(status: number): string {
	return `${status} ${statusTexts[status] ?? ''}`.trim();
}

function entryOf({ status, headers = {}, body }: HttpAnswer): string {
	if (body !== undefined && typeof body !== 'string') throw new Failure('not-supported', 'this cannot be read within a Bundle');
	const response: Record<string, string> = { status: statusLine(status) };
	if (headers['ETag'] !== undefined) response['etag'] = headers['ETag'];
	if (headers['Last-Modified'] !== undefined) response['lastModified'] = new Date(headers['Last-Modified']).toISOString();
	return body ? `{"resource":${body},"response":${JSON.stringify(response)}}` : `{"response":${JSON.stringify(response)}}`;
}
