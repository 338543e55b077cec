import type { Json } from '#core/json.ts';
import { type HttpCall, type HttpReach, permittedRequest } from '#core/permitted-request.ts';
import { isProviderUrl } from '#core/provider-url.ts';

/** Keys and metadata of providers have a few kilobytes. An answer that is longer is none of theirs. */
const answerBytesMax = 256 * 1024;

/** Why a provider's answer cannot be used. The text holds no token and no secret. */
export class ProviderError extends Error {
	override readonly name = 'ProviderError';
}

export type ProviderCall = Omit<HttpCall, 'headers'> & Partial<Pick<HttpCall, 'headers'>>;

/**
 * Calls an OIDC provider and reads its JSON, within a time and a length. Redirects are not followed, because they could leave TLS.
 * @throws Error when there is no usable answer, ForbiddenTarget when nobody may call that address
 */
export async function callProvider(url: string, { headers, ...call }: ProviderCall, reach: HttpReach): Promise<Json> {
	if (!isProviderUrl(url)) throw new ProviderError('the URL of the provider is neither https nor on this host');
	const answer = await permittedRequest(url, { ...call, headers: { Accept: 'application/json', ...headers } }, reach);
	try {
		if (answer.statusCode !== 200) throw new ProviderError(`the provider answered with the status ${answer.statusCode}`);
		return readJson((await boundedBody(answer)).toString('utf8'));
	} finally {
		answer.destroy();
	}
}

function readJson(text: string): Json {
	try {
		return JSON.parse(text);
	} catch (error) {
		throw new ProviderError('the answer of the provider is not JSON', { cause: error });
	}
}

/** @throws ProviderError when it is too long */
async function boundedBody(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of body) {
		length += chunk.length;
		if (length > answerBytesMax) throw new ProviderError('the answer of the provider is too long');
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

interface LibraryCall {
	method: string;
	headers: Record<string, string>;
	body?: unknown;
}

/**
 * Does what fetch does, for requests that a library makes: to URLs of providers only, without redirects, and within the same length.
 * @throws ProviderError
 */
export async function boundedFetch(url: string, { body: content, ...options }: LibraryCall): Promise<Response> {
	if (!isProviderUrl(url)) throw new ProviderError('the URL of the provider is neither https nor on this host');
	const answer = await fetch(url, { ...options, body: content ?? null, redirect: 'manual' } as RequestInit);
	const body = await boundedBody((answer.body ?? []) as AsyncIterable<Uint8Array>);
	return new Response(body.length === 0 ? null : new Uint8Array(body), { status: answer.status, headers: answer.headers });
}
