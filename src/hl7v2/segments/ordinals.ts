/** How often each item of each order came up in the message so far. */
export type Ordinals = Map<string, number>;

/** `#2` for the second of the same item in the same order and message. */
export function numbered(item: string, order: string, ordinals: Ordinals): string {
	const key = `${order}\n${item}`;
	const ordinal = (ordinals.get(key) ?? 0) + 1;
	ordinals.set(key, ordinal);
	return ordinal === 1 ? item : `${item}#${ordinal}`;
}
