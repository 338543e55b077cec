/** Counts how often each item of each order has occurred in the message so far. */
export type Ordinals = Map<string, number>;

/** Returns the key of an occurrence of an item in one order and message: the second one ends in `#2`. */
export function occurrence(item: string, ordinal: number): string {
	return ordinal === 1 ? item : `${item}#${ordinal}`;
}

/** Returns the key of the next occurrence of an item. */
export function numbered(item: string, order: string, ordinals: Ordinals): string {
	const key = `${order}\n${item}`;
	const ordinal = (ordinals.get(key) ?? 0) + 1;
	ordinals.set(key, ordinal);
	return occurrence(item, ordinal);
}
