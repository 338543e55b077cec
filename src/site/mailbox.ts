import type { Delivery, Reply } from '#record/delivery.ts';

/** A delivery that waits for its turn, with the functions that report the result. */
export interface Letter {
	readonly delivery: Delivery;
	readonly enqueuedAtMs: number;
	/** The number of times that the worker ended while it processed only this letter. */
	crashesAlone: number;
	resolve(reply: Reply): void;
	reject(error: Error): void;
}

/** One site's letters, first in first out, counted in messages and bytes. */
export class Mailbox {
	readonly siteId: string;
	/** The last pause for which it was held; 0 when its letters are carried out. */
	heldMs = 0;
	readonly #letters: Letter[] = [];
	#head = 0;
	#bytes = 0;

	constructor(siteId: string) {
		this.siteId = siteId;
	}

	get length(): number {
		return this.#letters.length - this.#head;
	}

	get bytes(): number {
		return this.#bytes;
	}

	get oldest(): Letter | undefined {
		return this.#letters[this.#head];
	}

	push(letter: Letter): void {
		this.#letters.push(letter);
		this.#bytes += letter.delivery.bytes.length;
	}

	shift(): Letter | undefined {
		const letter = this.#letters[this.#head];
		if (letter === undefined) return undefined;
		this.#head++;
		this.#bytes -= letter.delivery.bytes.length;
		if (this.#head === this.#letters.length || this.#head > 1024) {
			this.#letters.splice(0, this.#head);
			this.#head = 0;
		}
		return letter;
	}

	/** Puts letters of a batch that failed back before those that came later. */
	unshift(letters: readonly Letter[]): void {
		this.#letters.splice(0, this.#head, ...letters);
		this.#head = 0;
		for (const letter of letters) this.#bytes += letter.delivery.bytes.length;
	}

	/** Empties the mailbox. */
	takeAll(): Letter[] {
		const letters = this.#letters.splice(this.#head);
		this.#letters.length = 0;
		this.#head = 0;
		this.#bytes = 0;
		return letters;
	}
}
