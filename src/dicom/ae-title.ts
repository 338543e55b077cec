const aeTitlePattern = /^[\x20-\x5b\x5d-\x7e]{1,16}$/;

/** PS3.5 §6.2, AE: 1 to 16 characters of ASCII without control characters and backslash, not blanks alone. */
export function isAeTitle(text: string): boolean {
	return aeTitlePattern.test(text) && text.trim() !== '';
}
