import { nilId } from '#core/id.ts';
import type { Delivery, Reply } from '#record/delivery.ts';

/** A letter leaves the lane that took it over when it is answered or given up (`ended`), or to be answered as withheld. */
export type Parting = 'ended' | 'withheld';

/** A delivery that waits for its turn, with the functions that report the result. */
export interface Letter {
	readonly delivery: Delivery;
	readonly enqueuedAtMs: number;
	/** The number of times that the worker ended while it processed only this letter. */
	crashesAlone: number;
	/** Set when it took too long, or ended the worker, in company: it is tried again apart from other messages. */
	isApart?: boolean;
	/** Called when it leaves a lane that took it over. */
	left?(parting: Parting): void;
	resolve(reply: Reply): void;
	reject(error: Error): void;
}

/** The waiting messages of one sender. */
interface Waiting {
	messages: number;
	bytes: number;
}

/** Senders of whom nothing waits are forgotten from so many on; those who send all day keep their count. */
const rememberedMax = 64;

/** Names the sender of a delivery: its integration client, or on HTTP its key. */
export function senderOf({ clientId, source }: Pick<Delivery, 'clientId' | 'source'>): string {
	return clientId === nilId ? source : clientId;
}

/** One site's letters, first in first out, counted in messages and bytes. */
export class Mailbox {
	readonly siteId: string;
	/** The last pause for which it was held; 0 when its letters are carried out. */
	heldMs = 0;
	readonly #letters: Letter[] = [];
	readonly #senders = new Map<string, Waiting>();
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

	/** Returns what waits of one sender. */
	of(sender: string): Readonly<Waiting> | undefined {
		return this.#senders.get(sender);
	}

	/** The senders of what waits. */
	*senders(): Iterable<{ sender: string; messages: number }> {
		for (const [sender, { messages }] of this.#senders) if (messages > 0) yield { sender, messages };
	}

	#count({ delivery }: Letter, messages: 1 | -1): void {
		const bytes = messages * delivery.bytes.length;
		this.#bytes += bytes;
		const sender = senderOf(delivery);
		const waiting = this.#senders.get(sender);
		if (waiting === undefined) {
			this.#senders.set(sender, { messages, bytes });
			return;
		}
		waiting.messages += messages;
		waiting.bytes += bytes;
		if (waiting.messages === 0 && this.#senders.size > rememberedMax) this.#senders.delete(sender);
	}

	push(letter: Letter): void {
		this.#letters.push(letter);
		this.#count(letter, 1);
	}

	shift(): Letter | undefined {
		const letter = this.#letters[this.#head];
		if (letter === undefined) return undefined;
		this.#head++;
		this.#count(letter, -1);
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
		for (const letter of letters) this.#count(letter, 1);
	}

	/** Empties the mailbox. */
	takeAll(): Letter[] {
		const letters = this.#letters.splice(this.#head);
		this.#letters.length = 0;
		this.#head = 0;
		this.#bytes = 0;
		this.#senders.clear();
		return letters;
	}
}
