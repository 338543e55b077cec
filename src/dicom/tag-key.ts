/** Writes a tag as eight hexadecimal digits, capital letters: `7FE00010`. */
export function tagKey(tag: number): string {
	return tag.toString(16).padStart(8, '0').toUpperCase();
}
