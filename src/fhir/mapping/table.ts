/** Returns the entry of a sender's code, which may be any text, even `constructor`. */
export function entryOf<T>(table: Readonly<Record<string, T>>, code: string): T | undefined {
	return Object.hasOwn(table, code) ? table[code] : undefined;
}
