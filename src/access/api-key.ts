import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** `trb_<public id>_<secret>`: the id names the key in logs and lists, the secret is shown once and kept as a digest. */
export interface ApiKeyParts {
	id: string;
	secret: string;
}

const pattern = /^trb_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;

/** A new key: 60 bits of public id, 256 random bits of secret. */
export function createApiKey(): ApiKeyParts & { key: string } {
	const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
	const id = Array.from(randomBytes(12), (byte) => alphabet[byte & 31]).join('');
	const secret = randomBytes(32).toString('base64url');
	return { id, secret, key: `trb_${id}_${secret}` };
}

export function parseApiKey(text: string | undefined): ApiKeyParts | undefined {
	const match = pattern.exec(text ?? '');
	return match ? { id: match[1] as string, secret: match[2] as string } : undefined;
}

/** SHA-256: the secret has 256 random bits, so nothing slower is of use against guessing. */
export function digestSecret(secret: string): Buffer {
	return createHash('sha256').update(secret).digest();
}

const nobody = Buffer.alloc(32);

/** Takes as long for a key that does not exist as for one whose secret is wrong. */
export function secretMatches(secret: string, digest: Buffer | undefined): boolean {
	const equal = timingSafeEqual(digestSecret(secret), digest ?? nobody);
	return equal && digest !== undefined;
}
