/** A segment id as a number, which is compared faster than a piece of text. */
export function packedId(text: string, start: number): number {
	return (text.charCodeAt(start) << 16) | (text.charCodeAt(start + 1) << 8) | text.charCodeAt(start + 2);
}

function isUpper(code: number): boolean {
	return code >= 0x41 && code <= 0x5a;
}

function isDigit(code: number): boolean {
	return code >= 0x30 && code <= 0x39;
}

/** Three characters, `[A-Z][A-Z0-9]{2}`. */
export function isSegmentId(packed: number): boolean {
	const second = (packed >> 8) & 0xff;
	const third = packed & 0xff;
	return isUpper(packed >> 16) && (isUpper(second) || isDigit(second)) && (isUpper(third) || isDigit(third));
}
