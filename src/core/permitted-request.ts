import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { checkLiteral, permittedLookup } from './permitted-lookup.ts';
import { hostOf } from './provider-url.ts';
import type { TargetPolicy } from './target-policy.ts';

export interface HttpCall {
	method: 'GET' | 'POST';
	headers: Readonly<Record<string, string>>;
	body?: string | undefined;
}

/** Follows one call that is sampled. */
export interface CallTrace {
	/** The header by which the receiver continues the trace (W3C Trace Context). */
	readonly traceparent: string;
	/** There was an answer with this status, or there was none. */
	end(outcome: number | 'error'): void;
}

/** The bounds of a call. */
export interface HttpReach {
	/** Decides by the address that the connection goes to. */
	targets: TargetPolicy;
	/** The time for the whole of it, the body of the answer included. */
	msMax: number;
	/** Begins to follow a call; undefined where nothing is traced. */
	trace?: ((method: HttpCall['method']) => CallTrace | undefined) | undefined;
}

/**
 * Calls a URL that people named, over a connection of its own. Redirects are not followed. The caller reads the body of the answer, or destroys it.
 * @throws ForbiddenTarget when nobody may call that address; Error when there is no answer in time
 */
export async function permittedRequest(
	url: string,
	{ method, headers, body }: HttpCall,
	{ targets, msMax, trace }: HttpReach,
): Promise<IncomingMessage> {
	checkLiteral(targets, hostOf(url));
	const traced = trace?.(method);
	const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
	const request = (new URL(url).protocol === 'https:' ? requestHttps : requestHttp)(url, {
		method,
		lookup: permittedLookup(targets),
		agent: false,
		signal: AbortSignal.timeout(msMax),
		headers: { 'User-Agent': 'Tributary', ...headers, ...length, ...(traced && { traceparent: traced.traceparent }) },
	});
	// A fault within the answer is told by reading it.
	request.on('error', () => undefined);
	request.end(body);
	try {
		const [answer] = (await once(request, 'response')) as [IncomingMessage];
		traced?.end(answer.statusCode ?? 0);
		return answer;
	} catch (error) {
		traced?.end('error');
		throw error;
	}
}
