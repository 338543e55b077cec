import { createHash } from 'node:crypto';

const firstRoom = 1024;

function hashOf(path: string): bigint {
	return createHash('sha256').update(path).digest().readBigUInt64BE();
}

/**
 * A set of paths, of which eight bytes each are kept: a place may have more objects than a Set takes. Two paths with the same eight bytes count
 * as one, so a file may be kept that nobody names, and none is lost.
 */
export class NamedPaths {
	#hashes = new BigUint64Array(firstRoom);
	#count = 0;

	add(path: string): void {
		if (this.#count === this.#hashes.length) {
			const larger = new BigUint64Array(this.#count * 2);
			larger.set(this.#hashes);
			this.#hashes = larger;
		}
		this.#hashes[this.#count++] = hashOf(path);
	}

	/** Makes what was added known to `has`, each once. */
	sort(): void {
		const sorted = this.#hashes.subarray(0, this.#count).sort();
		let count = 0;
		for (const hash of sorted) if (count === 0 || sorted[count - 1] !== hash) sorted[count++] = hash;
		this.#count = count;
	}

	has(path: string): boolean {
		const wanted = hashOf(path);
		let low = 0;
		for (let high = this.#count; low < high; ) {
			const middle = (low + high) >> 1;
			if ((this.#hashes[middle] ?? 0n) < wanted) low = middle + 1;
			else high = middle;
		}
		return low < this.#count && this.#hashes[low] === wanted;
	}
}
