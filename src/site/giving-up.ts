import { Failure } from '#core/failure.ts';
import type { Letter } from './mailbox.ts';

/** Answers a letter that is not carried out. */
export function giveUp(letter: Letter, error: Error): void {
	letter.reject(error);
	letter.left?.('ended');
}

/** Some of what its thread did may be stored. */
export function unsure(): Failure {
	return new Failure('unavailable', 'it is not known whether this was stored: look before you send it again', { retryAfterSeconds: 5 });
}

/** It has waited as long as it may. */
export function unavailable(): Failure {
	return new Failure('unavailable', 'the message could not be stored in time; send it again', { retryAfterSeconds: 5 });
}
