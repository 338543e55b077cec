import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** `trb_<public id>_<secret>`: logs and lists name the key by its id. The secret is shown only once and stored as a digest. */
export interface ApiKeyParts {
	id: string;
	secret: string;
}

const pattern = /^trb_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;

/** Creates a key with a public id of 60 bits and a secret of 256 random bits. */
export function createApiKey(): ApiKeyParts & { key: string } {
	const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
	const id = Array.from(randomBytes(12), (byte) => alphabet[byte & 31]).join('');
	const secret = randomBytes(32).toString('base64url');
	return { id, secret, key: `${prefixOf(id)}_${secret}` };
}

export function parseApiKey(text: string | undefined): ApiKeyParts | undefined {
	const match = pattern.exec(text ?? '');
	return match ? { id: match[1] as string, secret: match[2] as string } : undefined;
}

/** SHA-256 is enough: nobody guesses a secret of 256 random bits, so a slower hash would not help. */
export function digestSecret(secret: string): Buffer {
	return hash('sha256', secret, 'buffer');
}

/** Returns the part of a key that may be shown, by its public id. */
export function prefixOf(id: string): string {
	return `trb_${id}`;
}

/** Returns the part of the text of a key that may be shown. Undefined when it is no key at all. */
export function shownPrefix(text: string): string | undefined {
	const parts = parseApiKey(text);
	return parts && prefixOf(parts.id);
}

const nobody = Buffer.alloc(32);

/** An unknown key takes as long to check as one with a wrong secret. */
export function secretMatches(secret: string, digest: Buffer | undefined): boolean {
	const equal = timingSafeEqual(digestSecret(secret), digest ?? nobody);
	return equal && digest !== undefined;
}
