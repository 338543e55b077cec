const slice: (this: Uint8Array, start: number, end: number) => string = Buffer.prototype.latin1Slice;

/** Bytes as a string of one character a byte. */
export function latin1(bytes: Uint8Array, start = 0, end = bytes.length): string {
	return slice.call(bytes, start, end);
}
