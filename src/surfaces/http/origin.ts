import type { HttpRequest } from './message.ts';

/**
 * Scheme, host and port as the caller reached them. A proxy in front passes the Host header on; whether it was reached over TLS,
 * the server has settled.
 */
export function originOf(request: Pick<HttpRequest, 'secure' | 'header'>): string {
	return `${request.secure ? 'https' : 'http'}://${request.header('host') ?? 'localhost'}`;
}
