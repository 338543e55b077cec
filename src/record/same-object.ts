/** The id of a delivery, at the end of every key of the object store. */
const idPattern = /-([0-9a-f]{32})\.dcm$/;

/** Returns the id that stays with an object wherever the store moves it; undefined for a text that is no key. */
export function objectIdOf(key: string): string | undefined {
	return idPattern.exec(key)?.[1];
}

/** Tells whether two keys name one object. Compaction moves an object, and gives it another key. */
export function isSameObject(key: string, other: string): boolean {
	if (key === other) return true;
	const id = objectIdOf(key);
	return id !== undefined && id === objectIdOf(other);
}
