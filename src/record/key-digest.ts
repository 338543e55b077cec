import { hash } from 'node:crypto';

/** Writes the first 16 bytes of a hexadecimal digest as a UUID, PostgreSQL's smallest type that holds them. */
export function uuidOfDigest(hex: string): string {
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Makes the key under which an index holds a text of any length: the first 16 bytes of its SHA-256 in UTF-8. */
export function keyDigest(text: string): string {
	return uuidOfDigest(hash('sha256', text));
}
