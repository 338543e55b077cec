const uidPattern = /^(?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*))*$/;

/** PS3.5 §9.1: at most 64 characters, components of digits without a leading zero, joined by dots. A single one is met and does no harm. */
export function isUid(text: string): boolean {
	return text.length <= 64 && uidPattern.test(text);
}

const aeTitlePattern = /^[\x20-\x5b\x5d-\x7e]{1,16}$/;

/** PS3.5 §6.2, AE: 1 to 16 characters of ASCII without control characters and backslash, not blanks alone. */
export function isAeTitle(text: string): boolean {
	return aeTitlePattern.test(text) && text.trim() !== '';
}
