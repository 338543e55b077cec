import { unrecognisedKinds } from '#record/delivery.ts';
import type { Letter } from './mailbox.ts';

/** The worker ended in the middle of a batch. */
export interface Crash {
	kind: 'crashed';
	/** The place of the message at which it ended; `elsewhere` when it ended at a message of another lane; undefined where nobody knows. */
	at?: number | 'elsewhere' | undefined;
	/** `time`: it was ended, because that message took too long. */
	reason?: 'time' | 'crash';
	/** Some messages of the batch may be stored. */
	isUnsure?: boolean;
}

interface Judgement {
	/** They are tried again. */
	again: Letter[];
	/** They may be stored, and nothing would recognise them: so they are not tried again. */
	lost: Letter[];
	/** They are withheld now, and go back to the lane from which they were taken over. */
	returned: Letter[];
}

/**
 * Decides what becomes of the messages of a batch whose worker ended. The message at which it ended goes apart from others, where that
 * `canGoApart`; a message that ends the worker twice while it is alone is withheld.
 */
export function judge(batch: readonly Letter[], { at, reason = 'crash', isUnsure = false }: Crash, canGoApart: boolean): Judgement {
	const [alone] = batch;
	const culprit = typeof at === 'number' ? batch[at] : undefined;
	const suspect = culprit ?? (at === undefined && batch.length === 1 ? alone : undefined);
	if (culprit && canGoApart) culprit.isApart = true;
	else if (suspect && ++suspect.crashesAlone >= 2) suspect.delivery.withheld = reason;
	const isReturned = (letter: Letter) => letter.delivery.withheld !== undefined && letter.left !== undefined;
	const isLost = (letter: Letter) => isUnsure && letter !== culprit && unrecognisedKinds.has(letter.delivery.kind);
	const isLeft = (letter: Letter) => !isLost(letter) && !isReturned(letter);
	return { again: batch.filter(isLeft), lost: batch.filter(isLost), returned: batch.filter(isReturned) };
}
