/** Tells whether a text is a key of 32 bytes in base64. */
export function isSecretKey(text: string): boolean {
	return /^[A-Za-z0-9+/]{43}=?$/.test(text);
}
