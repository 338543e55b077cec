import type { HttpRequest } from '../http/message.ts';
import { originOf } from '../http/origin.ts';

/** Returns the FHIR base URL as the caller reached it, without a trailing slash. */
export function baseOf(request: Pick<HttpRequest, 'secure' | 'header'>): string {
	return `${originOf(request)}/fhir`;
}
