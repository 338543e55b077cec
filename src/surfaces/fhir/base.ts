import type { HttpRequest } from '../http/message.ts';

/**
 * The FHIR base URL as the caller reached it, without a slash at its end. A proxy in front passes the Host header on;
 * whether it was reached over TLS, the server has settled.
 */
export function baseOf(request: Pick<HttpRequest, 'secure' | 'header'>): string {
	return `${request.secure ? 'https' : 'http'}://${request.header('host') ?? 'localhost'}/fhir`;
}
