import { shownPrefix } from '#access/api-key.ts';
import type { Refusals } from '#access/refusals.ts';
import type { HttpRequest } from './message.ts';

/** Notes that a key or a token was refused. Of a key its public prefix is told, of a token nothing. Who came without either is only counted. */
export function noteRefusedCredential(refusals: Refusals, { header, source }: Pick<HttpRequest, 'header' | 'source'>): void {
	const key = header('x-api-key');
	if (key !== undefined) {
		const named = shownPrefix(key);
		refusals.note({ action: 'key.refused', reason: named === undefined ? 'malformed' : 'not valid', source, named });
	} else if (header('authorization') !== undefined) {
		refusals.note({ action: 'token.refused', reason: 'not valid', source });
	}
}
