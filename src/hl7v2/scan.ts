/** Lies after every end and means that nothing more was found. */
const nowhere = 0x3fff_ffff;

/**
 * Finds one delimiter in one text. It remembers the last result and the last part with its start. So reading a message from front to back
 * searches it once, and reading the thousandth repetition after the previous one costs one step.
 */
export class DelimiterScan {
	readonly #text: string;
	readonly #delimiter: string;
	/** The range between these two holds no delimiter; the second is the position of one. */
	#from = 0;
	#at = -1;
	/** Part `#number` of the text that begins at `#whole` extends from `#part` to `#partEnd`, or ends before. */
	#whole = -1;
	#number = 0;
	#part = 0;
	#partEnd = 0;
	/** The part that was found last. */
	from = 0;
	to = 0;

	/** An empty delimiter is never found. */
	constructor(text: string, delimiter: string) {
		this.#text = text;
		this.#delimiter = delimiter;
		if (delimiter === '') this.#at = nowhere;
	}

	/** Returns the offset of the first delimiter at or after `position`; very large when there is none. */
	next(position: number): number {
		return position >= this.#from && position <= this.#at ? this.#at : this.#search(position);
	}

	#search(position: number): number {
		const found = this.#text.indexOf(this.#delimiter, position);
		this.#from = position;
		this.#at = found === -1 ? nowhere : found;
		return this.#at;
	}

	/**
	 * Sets `from` and `to` to part `number` (from 0) of the text from `start` to `end`; false when that is empty or there
	 * are fewer parts.
	 */
	part(start: number, end: number, number: number): boolean {
		if (number > 0) return this.#later(start, end, number);
		this.from = start;
		this.to = Math.min(this.next(start), end);
		return number === 0 && start < this.to;
	}

	#later(start: number, end: number, number: number): boolean {
		let from = start;
		let at: number;
		let left = number;
		if (this.#whole === start && this.#number <= number) {
			from = this.#part;
			at = this.#partEnd;
			left -= this.#number;
		} else {
			at = this.next(start);
		}
		for (; left > 0; left--) {
			if (at >= end) return false;
			from = at + 1;
			at = this.next(from);
		}
		this.#whole = start;
		this.#number = number;
		this.#part = from;
		this.#partEnd = at;
		this.from = from;
		this.to = Math.min(at, end);
		return from < this.to;
	}

	/** Counts the parts of the text from `start` to `end`. */
	count(start: number, end: number): number {
		let parts = 1;
		for (let at = this.next(start); at < end; at = this.next(at + 1)) parts += 1;
		return parts;
	}
}
