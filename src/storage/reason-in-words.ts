import { StartError } from '#core/start-error.ts';
import { DatabaseTlsError } from './database-tls.ts';
import { stateOf } from './sqlstate.ts';

/** A chain of causes is no longer than this, even if it leads back to itself. */
const causesMax = 8;

/**
 * Says in a sentence for people what ended a command or a start: the text of the error, but for a server that takes no further connection. Its own text
 * then does not say who has to do what. What is wrong with a certificate is for whoever gave the URL, and no text for callers of the service.
 */
export function reasonInWords(error: unknown): string {
	if (error instanceof StartError) return error.message;
	for (let cause = error, depth = 0; cause instanceof Error && depth < causesMax; cause = cause.cause, depth++) {
		if (cause instanceof DatabaseTlsError) return cause.message;
		if (stateOf(cause) === '53300')
			return 'the database has no connection left: try again when other programs have ended theirs, or raise max_connections or the limit of the role or the database';
	}
	return error instanceof Error ? error.message : String(error);
}
