import type { HttpRequest } from '../http/message.ts';

/** Returns the FHIR base URL of links, without a trailing slash. */
export function baseOf({ origin }: Pick<HttpRequest, 'origin'>): string {
	return `${origin}/fhir`;
}
