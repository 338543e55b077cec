import type { HttpRequest } from '../http/message.ts';
import { originOf } from '../http/origin.ts';

/** The FHIR base URL as the caller reached it, without a slash at its end. */
export function baseOf(request: Pick<HttpRequest, 'secure' | 'header'>): string {
	return `${originOf(request)}/fhir`;
}
