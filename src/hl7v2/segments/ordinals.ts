/** Counts how often each item of each order has occurred in the message so far. */
export type Ordinals = Map<string, number>;

/** Returns `#2` for the second occurrence of an item in the same order and message. */
export function numbered(item: string, order: string, ordinals: Ordinals): string {
	const key = `${order}\n${item}`;
	const ordinal = (ordinals.get(key) ?? 0) + 1;
	ordinals.set(key, ordinal);
	return ordinal === 1 ? item : `${item}#${ordinal}`;
}
