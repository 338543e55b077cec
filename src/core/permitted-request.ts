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

/** The bounds of a call. */
export interface HttpReach {
	/** Decides by the address that the connection goes to. */
	targets: TargetPolicy;
	/** The time for the whole of it, the body of the answer included. */
	msMax: number;
}

/**
 * Calls a URL that people named, over a connection of its own. Redirects are not followed. The caller reads the body of the answer, or destroys it.
 * @throws ForbiddenTarget when nobody may call that address; Error when there is no answer in time
 */
export async function permittedRequest(
	url: string,
	{ method, headers, body }: HttpCall,
	{ targets, msMax }: HttpReach,
): Promise<IncomingMessage> {
	checkLiteral(targets, hostOf(url));
	const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
	const request = (new URL(url).protocol === 'https:' ? requestHttps : requestHttp)(url, {
		method,
		lookup: permittedLookup(targets),
		agent: false,
		signal: AbortSignal.timeout(msMax),
		headers: { 'User-Agent': 'Tributary', ...headers, ...length },
	});
	// A fault within the answer is told by reading it.
	request.on('error', () => undefined);
	request.end(body);
	const [answer] = (await once(request, 'response')) as [IncomingMessage];
	return answer;
}
