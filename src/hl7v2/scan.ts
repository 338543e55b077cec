/** Behind every end: nothing more was found. */
const nowhere = 0x3fff_ffff;

/** Fields are short: so many characters are looked at before a native search is worth its call. */
const nearby = 3;

/**
 * Finds one delimiter in one text. The last answer is kept, as are the last part asked for and where it began: reading
 * a message from front to back searches it once, and reading the thousandth repetition after the one before costs one
 * step.
 */
export class DelimiterScan {
	readonly #text: string;
	readonly #delimiter: string;
	readonly #code: number;
	/** Between these two there is no delimiter; the second is one. */
	#from = 0;
	#at = -1;
	/** The part `#number` of what begins at `#whole` begins at `#part`. */
	#whole = -1;
	#number = 0;
	#part = 0;

	/** An empty delimiter is found nowhere. */
	constructor(text: string, delimiter: string) {
		this.#text = text;
		this.#delimiter = delimiter;
		this.#code = delimiter === '' ? -1 : delimiter.charCodeAt(0);
		if (delimiter === '') this.#at = nowhere;
	}

	/** The offset of the first delimiter at or behind `position`; very large when there is none. */
	next(position: number): number {
		if (position >= this.#from && position <= this.#at) return this.#at;
		this.#from = position;
		const text = this.#text;
		const near = Math.min(position + nearby, text.length);
		for (let index = position; index < near; index++) {
			if (text.charCodeAt(index) === this.#code) {
				this.#at = index;
				return index;
			}
		}
		const found = text.indexOf(this.#delimiter, near);
		this.#at = found === -1 ? nowhere : found;
		return this.#at;
	}

	/** Where part `number` (from 0) of the text from `start` to `end` begins; -1 when it has fewer parts. */
	partStart(start: number, end: number, number: number): number {
		if (number <= 0) return number === 0 ? start : -1;
		let part = start;
		let left = number;
		if (this.#whole === start && this.#number <= number) {
			part = this.#part;
			left = number - this.#number;
		}
		for (; left > 0; left--) {
			const at = this.next(part);
			if (at >= end) return -1;
			part = at + 1;
		}
		this.#whole = start;
		this.#number = number;
		this.#part = part;
		return part;
	}

	/** How many parts the text from `start` to `end` has. */
	count(start: number, end: number): number {
		let parts = 1;
		for (let at = this.next(start); at < end; at = this.next(at + 1)) parts += 1;
		return parts;
	}
}
