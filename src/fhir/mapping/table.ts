/** The entry of a code that a sender wrote, which may be anything: `constructor` too. */
export function entryOf<T>(table: Readonly<Record<string, T>>, code: string): T | undefined {
	return Object.hasOwn(table, code) ? table[code] : undefined;
}
