import { type AddressBytes, type AddressRange, parseAddress } from '#core/address.ts';

/** Ranges of one prefix length, by the bytes of their prefix. */
interface PrefixLength<T> {
	bits: number;
	ranges: Map<string, T>;
}

/**
 * Holds something for each range of addresses, and finds it by an address. The cost of a look-up grows with the number of distinct prefix
 * lengths and not with the number of ranges.
 */
export class RangeIndex<T> {
	readonly #create: () => T;
	/** Each length of an address in bytes has its prefixes, the longest first. */
	readonly #families = new Map<number, PrefixLength<T>[]>([
		[4, []],
		[16, []],
	]);

	/** @param create makes what a range that is new to the index holds */
	constructor(create: () => T) {
		this.#create = create;
	}

	/** Returns what a range holds, to be added to: one thing, but for `*`, which is the empty prefix of both families. */
	of({ bytes, prefixBits }: AddressRange): T[] {
		if (bytes !== undefined) return [this.#held(bytes, prefixBits)];
		return [...this.#families.keys()].map((length) => this.#held(new Array(length).fill(0), 0));
	}

	/** Yields what the ranges that contain the address hold, most specific first. */
	*containing(address: string): Iterable<T> {
		const bytes = parseAddress(address);
		for (const { bits, ranges } of (bytes && this.#families.get(bytes.length)) ?? []) {
			const held = bytes && ranges.get(prefixOf(bytes, bits));
			if (held !== undefined) yield held;
		}
	}

	#held(bytes: AddressBytes, bits: number): T {
		const lengths = entryOf(this.#families, bytes.length, () => []);
		let length = lengths.find((one) => one.bits === bits);
		if (length === undefined) {
			length = { bits, ranges: new Map() };
			lengths.push(length);
			lengths.sort((left, right) => right.bits - left.bits);
		}
		return entryOf(length.ranges, prefixOf(bytes, bits), this.#create);
	}
}

/** Returns the first bits of an address as a key. */
function prefixOf(bytes: AddressBytes, bits: number): string {
	const whole = bits >> 3;
	const rest = bits & 7;
	let key = '';
	for (let index = 0; index < whole; index++) key += String.fromCharCode(bytes[index] ?? 0);
	return rest === 0 ? key : key + String.fromCharCode((bytes[whole] ?? 0) & (0xff << (8 - rest)));
}

export function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
	const held = map.get(key);
	if (held !== undefined) return held;
	const created = create();
	map.set(key, created);
	return created;
}
