import { bodyType } from '../http/media-type.ts';
import type { HttpRequest } from '../http/message.ts';

/**
 * Returns the parameters of a form, encoded as in a URL; empty when there is no body.
 * @throws Failure `unsupported-media-type`
 */
export function formOf(request: HttpRequest): string {
	if (request.body.length === 0) return '';
	bodyType(request, ['application/x-www-form-urlencoded']);
	return Buffer.from(request.body).toString('utf8').trim();
}
