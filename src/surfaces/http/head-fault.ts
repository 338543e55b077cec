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

/** The headers by which callers say who they are, with their names as the standards write them. */
const credentials = [
	['x-api-key', 'X-API-Key'],
	['authorization', 'Authorization'],
] as const;

/** Returns the reason why it is open who calls. A cache, a proxy and this service could each take another of two keys. */
export function credentialFault(headers: Headers): Failure | undefined {
	for (const [name, written] of credentials) {
		let given = 0;
		for (const [other] of headers) if (other === name && ++given > 1) return new Failure('invalid', `${written} is given more than once`);
	}
	return undefined;
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
