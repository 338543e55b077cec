import { Failure } from '#core/failure.ts';
import type { Delivery } from '#record/delivery.ts';
import type { Prepared } from './prepared.ts';

/** Tells whether a delivery is carried out only to see what would become of it. Its transaction is taken back. */
export function isRehearsal({ rehearsal }: Delivery): boolean {
	return rehearsal === true;
}

/** A rehearsal has a transaction of its own, so the first message tells it of all. */
export function isRehearsed([first]: readonly Prepared[]): boolean {
	return first !== undefined && isRehearsal(first.delivery);
}

export function partsOf(batch: readonly Prepared[], delivery: Delivery): Prepared[] {
	return batch.filter((part) => part.delivery === delivery);
}

/** A rehearsal that fails alone is answered: what comes behind it in its site must not wait for it. */
export function failRehearsal(message: Prepared, cause: unknown): 'again' | 'done' {
	if (message.poison !== undefined) return 'done';
	message.poison = new Failure('internal', 'the message could not be tried', { cause });
	return 'again';
}
