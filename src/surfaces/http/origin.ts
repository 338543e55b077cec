import type { HttpRequest } from './message.ts';

/**
 * Returns scheme, host and port as the caller reached them. A proxy in front passes the Host header on; the server has determined whether
 * TLS was used.
 */
export function originOf(request: Pick<HttpRequest, 'secure' | 'header'>): string {
	return `${request.secure ? 'https' : 'http'}://${request.header('host') ?? 'localhost'}`;
}
