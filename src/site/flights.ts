import type { Reply } from '#record/delivery.ts';
import type { Letter } from './mailbox.ts';
import type { Crash } from './suspicion.ts';

/**
 * The outcome of a batch: its replies in order, or the reason why there are none. A message without a reply was not carried out. `behind`:
 * nothing was done, because not all of the batch before it was carried out.
 */
export type BatchOutcome = { kind: 'done'; replies: (Reply | undefined)[] } | { kind: 'unavailable' } | { kind: 'behind' } | Crash;

/** A batch under way. It has no outcome until it ends. */
export interface Flight {
	readonly letters: readonly Letter[];
	outcome: BatchOutcome | undefined;
}

/** A batch that has ended. */
export interface Landed {
	readonly letters: readonly Letter[];
	readonly outcome: BatchOutcome;
}

/**
 * The batches of a lane that are under way, the oldest first. The second is interpreted while the first is carried out. It is itself carried
 * out only if all of the first was, so what is put back of the first comes before it.
 */
export class Flights {
	readonly #flights: Flight[] = [];

	get size(): number {
		return this.#flights.length;
	}

	get messages(): number {
		return this.#flights.reduce((messages, { letters }) => messages + letters.length, 0);
	}

	get letters(): Letter[] {
		return this.#flights.flatMap(({ letters }) => letters);
	}

	has(siteId: string): boolean {
		return this.#flights.some(({ letters }) => letters.some(({ delivery }) => delivery.siteId === siteId));
	}

	add(letters: readonly Letter[]): Flight {
		const flight: Flight = { letters, outcome: undefined };
		this.#flights.push(flight);
		return flight;
	}

	/**
	 * Takes the batches that have ended, in the order in which their letters are answered or put back. Where not all of a batch was carried
	 * out, the one behind it is put back before it, so that it stands behind it in the mailbox.
	 */
	landed(): Landed[] {
		const landed: Landed[] = [];
		for (let [first] = this.#flights; first !== undefined && hasEnded(first); [first] = this.#flights) {
			if (isWhole(first.outcome)) {
				this.#flights.shift();
				landed.push(first);
			} else {
				const all = this.#flights.filter(hasEnded);
				if (all.length < this.#flights.length) break;
				this.#flights.length = 0;
				landed.push(...all.reverse());
			}
		}
		return landed;
	}
}

function hasEnded(flight: Flight): flight is Landed {
	return flight.outcome !== undefined;
}

/** Tells whether all messages of a batch were carried out. */
function isWhole(outcome: BatchOutcome): boolean {
	return outcome.kind === 'done' && !outcome.replies.includes(undefined);
}
