/** A FHIR request that writes, as the surface sends it to the site's worker. */
export interface WriteRequest {
	method: string;
	/** Relative to the FHIR base, encoded: `Patient/1`, `Patient?identifier=a`, `Patient/$validate`; empty for a Bundle. */
	url: string;
	/** Headers by lower-case name; only those of `carriedHeaders`. */
	headers: Readonly<Record<string, string>>;
	body: Uint8Array;
}

/** Holds the FHIR base URL as the sender of a Bundle or condition reached it. The surface states it beside the sender’s headers. */
export const baseHeader = 'fhir-base';

/** Headers that decide what a request does. */
export const carriedHeaders = ['content-type', 'if-match', 'if-none-match', 'if-none-exist', 'prefer', 'x-security-context'] as const;

/** Encodes the request in the form of an HTTP message (RFC 9112 §2.1), so that the message log shows it readably and can replay it. */
export function encodeRequest({ method, url, headers, body }: WriteRequest): Uint8Array {
	const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
	const head = Buffer.from(`${method} ${url}\r\n${lines.join('')}\r\n`);
	const bytes = Buffer.allocUnsafe(head.length + body.length);
	head.copy(bytes);
	bytes.set(body, head.length);
	return bytes;
}

export function decodeRequest(bytes: Uint8Array): WriteRequest {
	const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const end = view.indexOf('\r\n\r\n');
	if (end < 0) throw new Error('a FHIR delivery has no head');
	const [first = '', ...lines] = view.toString('utf8', 0, end).split('\r\n');
	const space = first.indexOf(' ');
	const headers = Object.fromEntries(
		lines.map((line) => {
			const colon = line.indexOf(': ');
			return [line.slice(0, colon), line.slice(colon + 2)];
		}),
	);
	return { method: first.slice(0, space), url: first.slice(space + 1), headers, body: view.subarray(end + 4) };
}
