import type { Json } from '#core/json.ts';

/** Keys and metadata of providers have a few kilobytes. An answer that is longer is none of theirs. */
const answerBytesMax = 256 * 1024;

/** Why a provider's answer cannot be used. The text holds no token and no secret. */
export class ProviderError extends Error {
	override readonly name = 'ProviderError';
}

/** TLS protects keys and tokens on their way, except where they do not leave the host. */
export function isProviderUrl(text: string): boolean {
	const url = URL.parse(text);
	if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
	return url.protocol === 'https:' || (url.protocol === 'http:' && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname));
}

export interface ProviderCall {
	method: 'GET' | 'POST';
	headers?: Readonly<Record<string, string>>;
	body?: string;
}

/**
 * Calls an OIDC provider and reads its JSON, within a time and a length. Redirects are not followed, because they could leave TLS.
 * @throws Error when there is no usable answer
 */
export async function callProvider(url: string, { headers = {}, ...call }: ProviderCall, msMax: number): Promise<Json> {
	if (!isProviderUrl(url)) throw new ProviderError('the URL of the provider is neither https nor on this host');
	const signal = AbortSignal.timeout(msMax);
	const answer = await fetch(url, { ...call, headers: { Accept: 'application/json', ...headers }, redirect: 'error', signal });
	if (answer.status !== 200) {
		await answer.body?.cancel();
		throw new ProviderError(`the provider answered with the status ${answer.status}`);
	}
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
		length += chunk.length;
		if (length > answerBytesMax) throw new ProviderError('the answer of the provider is too long');
		chunks.push(chunk);
	}
	try {
		return JSON.parse(Buffer.concat(chunks).toString('utf8'));
	} catch (error) {
		throw new ProviderError('the answer of the provider is not JSON', { cause: error });
	}
}
