import { Failure } from '#core/failure.ts';

type Headers = readonly (readonly [string, string])[];

/** Returns the reason why a request's headers do not delimit its body unambiguously. The connection is then closed (RFC 9112 §6.3). */
export function framingFault(headers: Headers): Failure | undefined {
	const lengths = headers.filter(([name]) => name === 'content-length');
	if (lengths.length > 1) return new Failure('invalid', 'Content-Length is given more than once');
	const length = lengths[0]?.[1];
	if (length !== undefined && !/^\d{1,15}$/.test(length)) return new Failure('invalid', 'Content-Length is not a number');
	const encodings = headers.filter(([name]) => name === 'transfer-encoding');
	if (encodings.length > 0 && length !== undefined) return new Failure('invalid', 'Content-Length and Transfer-Encoding are both given');
	if (encodings.length > 1) return new Failure('invalid', 'Transfer-Encoding is given more than once');
	const encoding = encodings[0]?.[1];
	if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') return new Failure('invalid', 'Transfer-Encoding is not chunked');
	return undefined;
}

/** The headers by which callers say who they are. */
const credentials = ['x-api-key', 'authorization'];

/**
 * Returns the headers by name. Of one that is repeated the last counts, but two credentials become one text, which is no key and no token
 * (RFC 9110 §5.3): a cache, a proxy and this service could each take another of the two.
 */
export function headersByName(headers: Headers): Map<string, string> {
	const byName = new Map(headers);
	if (byName.size === headers.length) return byName;
	for (const credential of credentials) {
		const given = headers.filter(([name]) => name === credential);
		if (given.length > 1) byName.set(credential, given.map(([, value]) => value).join(', '));
	}
	return byName;
}

/** Returns the number of bytes of a request line and its headers as RFC 9112 §3 writes them. */
export function headBytes(method: string, path: string, query: string, headers: Headers): number {
	let bytes = method.length + path.length + query.length + ' ? HTTP/1.1\r\n\r\n'.length;
	for (const [name, value] of headers) bytes += name.length + value.length + ': \r\n'.length;
	return bytes;
}

export function headTooLarge(bytesMax: number): Failure {
	return new Failure('head-too-large', `the request line and the headers are longer than ${bytesMax} bytes`);
}
